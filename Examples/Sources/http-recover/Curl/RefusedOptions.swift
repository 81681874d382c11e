import CommandLineSupport

/// The options of curl that are not kept: each is refused by name, with what helps instead.
enum RefusedOptions {
    /// Why an option is refused; nil if it is none of curl's that are.
    static func refusal(of name: String) -> InvalidOption? {
        let long = shortNames[name] ?? name
        guard let reason = reasons[long] else { return nil }
        let shown = long == name ? name : "\(name) (\(long))"
        return InvalidOption("\(shown) is curl's and is not kept here: \(reason)")
    }

    /// The long names, for those who look whether all are there.
    static var names: [String] { reasons.keys.sorted() }

    private static let shortNames = [
        "-0": "--http1.0", "-1": "--tlsv1", "-2": "--sslv2", "-3": "--sslv3",
        "-a": "--append", "-B": "--use-ascii", "-c": "--cookie-jar", "-#": "--progress-bar",
        "-j": "--junk-session-cookies", "-J": "--remote-header-name", "-K": "--config", "-l": "--list-only",
        "-M": "--manual", "-n": "--netrc", "-p": "--proxytunnel", "-P": "--ftp-port", "-Q": "--quote",
        "-R": "--remote-time", "-t": "--telnet-option", "-y": "--speed-time", "-Y": "--speed-limit",
        "-z": "--time-cond",
        "-:": "--next",
    ]

    private static let reasons: [String: String] = {
        var reasons: [String: String] = [:]
        for (reason, names) in table {
            for name in names.split(separator: " ") { reasons["--\(name)"] = reason }
        }
        return reasons
    }()

    /// The reason, and the options that it holds for.
    private static let table: [(reason: String, names: String)] = [
        (
            "all URLs of a run have the same options; run the program once for each set of them",
            "next"
        ),
        (
            "options stand on the command line alone; secrets come from the environment (--proxy-env, --state-env) or a file "
                + "(--token-file)",
            "variable config netrc netrc-file netrc-optional"
        ),
        (
            "cookies are not kept from one answer to the next; -b 'name=value' sends some",
            "cookie-jar junk-session-cookies"
        ),
        (
            "a request is sent again only where that does no harm; --replayable says so of all, and statuses that mean "
                + "\"later\" are tried again anyway",
            "retry-all-errors"
        ),
        (
            "the server would choose the name of a file on this machine; name it with -o, or take the URL's with -O",
            "remote-header-name"
        ),
        ("files have the time at which they were written, and nothing else is noted about them", "remote-time xattr"),
        (
            "a file appears under its name when it is whole, and takes the place of what was there; look before, or use "
                + "--output-dir",
            "no-clobber skip-existing"
        ),
        ("what is not whole never appears under its name, except with -C -; leave it out", "remove-on-error"),
        ("new files have the mode of the process's umask", "create-file-mode"),
        ("HTTP/1.1 is the oldest version that is spoken", "http1.0 http0.9 proxy1.0"),
        (
            "HTTP/2 and HTTP/3 are agreed on with the server, by --http2 or --http3",
            "http2-prior-knowledge http3-only no-alpn no-npn alt-svc"
        ),
        (
            "names are looked up as the system does it; --resolve names an address, --connect-to another host",
            "dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url doh-insecure doh-cert-status interface local-port "
                + "happy-eyeballs-timeout-ms haproxy-protocol"
        ),
        (
            "credentials are sent as Basic (-u) or as a bearer token (--token-file, --oauth2-bearer); schemes that answer a "
                + "challenge are not spoken",
            "anyauth digest negotiate ntlm ntlm-wb delegation service-name aws-sigv4 krb login-options sasl-authzid sasl-ir "
                + "tlsauthtype tlspassword tlsuser"
        ),
        ("--location follows redirects; -X holds for the first request and for all that keep its method", "follow"),
        ("-o /dev/null throws a body away", "out-null"),
        ("credentials are never sent to another server than the one that they are for", "location-trusted"),
        (
            "a 303, and a 301 or 302 after a POST, become a GET, as browsers do it",
            "post301 post302 post303"
        ),
        (
            "a URL has its protocol in front, a redirect never leaves https, and nothing but http and https is spoken",
            "proto-redir proto-default"
        ),
        ("--idle-timeout ends a transfer in which nothing moves", "speed-limit speed-time"),
        ("a transfer goes as fast as both sides can; --concurrency bounds how many there are", "limit-rate rate"),
        (
            "write -H 'If-Modified-Since: DATE' or -H 'If-None-Match: TAG'",
            "time-cond etag-compare etag-save"
        ),
        ("each failure is told at the end and all calls are made; run fewer URLs at a time", "fail-early"),
        (
            "waits are counted down on a screen, and bytes are not; --verbose tells each step",
            "progress-bar styled-output"
        ),
        (
            "--verbose tells requests and answers, --events writes what has happened; no secret is in either",
            "trace-ids trace-config trace trace-ascii trace-time stderr libcurl"
        ),
        (
            "--proxy takes the URL: socks5://HOST:PORT, socks5h://, socks4://, socks4a://",
            "socks4 socks4a socks5 socks5-hostname"
        ),
        (
            "a proxy is told its user and password in its URL, by Basic (--proxy-env keeps them out of sight)",
            "preproxy proxy-anyauth proxy-digest proxy-negotiate proxy-ntlm proxy-service-name socks5-basic socks5-gssapi "
                + "socks5-gssapi-nec socks5-gssapi-service"
        ),
        (
            "a proxy is asked for a tunnel for https, and for the URL itself for http; nothing else can be said about it",
            "proxy-http2 haproxy-clientip proxytunnel proxy-header suppress-connect-headers proxy-cacert proxy-capath proxy-cert proxy-cert-type "
                + "proxy-ciphers proxy-crlfile proxy-insecure proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey "
                + "proxy-ssl-allow-beast proxy-ssl-auto-client-cert proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword "
                + "proxy-tlsuser proxy-tlsv1"
        ),
        ("a passphrase comes from the environment (--key-pass-env)", "pass"),
        ("certificates and keys are PEM files (--cacert, --cert, --key)", "capath cert-type key-type engine"),
        ("TLS 1.2 is the lowest version that is accepted", "tlsv1 tlsv1.0 tlsv1.1 sslv2 sslv3 ssl ssl-reqd"),
        (
            "of TLS the lowest version (--tlsv1.2, --tlsv1.3), the authorities (--cacert), a pin (--pinnedpubkey) and a client "
                + "certificate (--cert) can be said",
            "ca-native proxy-ca-native dump-ca-embed ech sigalgs tls-earlydata ssl-sessions ciphers curves tls13-ciphers cert-status crlfile egd-file random-file false-start no-sessionid hsts "
                + "ssl-allow-beast ssl-auto-client-cert ssl-no-revoke ssl-revoke-best-effort"
        ),
        (
            "bodies go out as they are, and come decoded; nothing of the framing can be said",
            "raw tr-encoding crlf use-ascii ignore-content-length expect100-timeout form-escape request-target"
        ),
        (
            "connections are kept and reused by themselves",
            "keepalive-cnt mptcp ip-tos vlan-priority parallel-max-host keepalive-time no-keepalive tcp-fastopen tcp-nodelay abstract-unix-socket disallow-username-in-url "
                + "parallel-immediate"
        ),
        ("the manual page is that of the program: man http-recover, or --help", "manual"),
        (
            "it belongs to another protocol than HTTP",
            "ipfs-gateway upload-flags append compressed-ssh disable-eprt disable-epsv ftp-account ftp-alternative-to-user ftp-create-dirs ftp-method "
                + "ftp-pasv ftp-port ftp-pret ftp-skip-pasv-ip ftp-ssl-ccc ftp-ssl-ccc-mode ftp-ssl-control hostpubmd5 "
                + "hostpubsha256 list-only mail-auth mail-from mail-rcpt mail-rcpt-allowfails metalink pubkey quote "
                + "telnet-option tftp-blksize tftp-no-options"
        ),
    ]
}
