import CCurl
import HTTPRecovery

/// What the handles of a loop have in common and refer to in memory that libcurl does not copy: certificates and lists.
///
/// It outlives the handles, because the loop has it. It is never changed, so any thread may read it.
@safe
final class SharedOptions: @unchecked Sendable {
    private let configuration: CurlTransport.Configuration
    private let authorities: Block?
    private let chain: Block?
    private let key: Block?
    private let connectTo: UnsafeMutablePointer<curl_slist>?

    init(_ configuration: CurlTransport.Configuration) {
        self.configuration = configuration
        let tls = configuration.tls
        if case .certificates(let pem) = tls.authorities.choice { authorities = Block(pem) } else { authorities = nil }
        if case .pem(let pem) = tls.clientCertificate?.chain { chain = Block(pem) } else { chain = nil }
        if case .pem(let pem) = tls.clientCertificate?.key { key = Block(pem) } else { key = nil }
        var list: UnsafeMutablePointer<curl_slist>?
        for option in configuration.connectionOverrides.compactMap(\.option) {
            // libcurl copies the text; without memory the list stays as it is.
            unsafe list = curl_slist_append(list, option) ?? list
        }
        unsafe connectTo = list
    }

    deinit {
        for block in [authorities, chain, key] { block?.free() }
        unsafe curl_slist_free_all(connectTo)
    }

    /// Sets the options of a new handle.
    ///
    /// - Returns: Whether libcurl has accepted all of them: one that it does not know would be left out in silence.
    @discardableResult
    func apply(to handle: UnsafeMutableRawPointer) -> Bool {
        var options = unsafe Options(handle: handle)
        if let url = configuration.proxy.url { options.set(CURLOPT_PROXY, url) }
        // Without this libcurl reads no_proxy from the environment.
        if let hosts = configuration.proxy.exceptions { options.set(CURLOPT_NOPROXY, hosts) }
        if let path = configuration.unixSocketPath { options.set(CURLOPT_UNIX_SOCKET_PATH, path) }
        if configuration.addressFamily != .any { options.set(CURLOPT_IPRESOLVE, configuration.addressFamily.option) }
        if let connectTo = unsafe connectTo { unsafe options.set(CURLOPT_CONNECT_TO, connectTo) }
        apply(configuration.tls, to: &options)
        return options.areAccepted
    }

    private func apply(_ tls: CurlTransport.TLS, to options: inout Options) {
        var versions = tls.minimumVersion.option
        if let highest = tls.maximumVersion { versions |= highest.option << 16 }
        options.set(CURLOPT_SSLVERSION, versions)
        if case .file(let path) = tls.authorities.choice {
            options.set(CURLOPT_CAINFO, path)
            options.set(CURLOPT_CAPATH, nil)
        } else if let authorities {
            options.set(CURLOPT_CAINFO_BLOB, authorities)
            options.set(CURLOPT_CAPATH, nil)
        }
        if configuration.proxy.isHTTPS {
            options.set(CURLOPT_PROXY_SSLVERSION, versions)
            if case .file(let path) = tls.authorities.choice {
                options.set(CURLOPT_PROXY_CAINFO, path)
                options.set(CURLOPT_PROXY_CAPATH, nil)
            } else if let authorities {
                options.set(CURLOPT_PROXY_CAINFO_BLOB, authorities)
                options.set(CURLOPT_PROXY_CAPATH, nil)
            }
        }
        if let certificate = tls.clientCertificate {
            if case .file(let path) = certificate.chain { options.set(CURLOPT_SSLCERT, path) }
            if let chain { options.set(CURLOPT_SSLCERT_BLOB, chain) }
            if case .file(let path) = certificate.key { options.set(CURLOPT_SSLKEY, path) }
            if let key { options.set(CURLOPT_SSLKEY_BLOB, key) }
            // Always: without one OpenSSL asks for it on the terminal, and the loop waits for who sits there.
            options.set(CURLOPT_KEYPASSWD, certificate.passphrase?.text ?? "")
        }
        if !tls.pinnedPublicKeys.isEmpty {
            let pins = tls.pinnedPublicKeys.map(\.description).sorted().joined(separator: ";")
            options.set(CURLOPT_PINNEDPUBLICKEY, pins)
        }
        if tls.isVerificationDisabled {
            options.set(CURLOPT_SSL_VERIFYPEER, 0)
            options.set(CURLOPT_SSL_VERIFYHOST, 0)
        }
    }

    /// Bytes that stay where they are.
    @safe
    private struct Block {
        let bytes: UnsafeMutableRawBufferPointer

        init(_ source: [UInt8]) {
            unsafe bytes = .allocate(byteCount: source.count, alignment: 1)
            unsafe bytes.copyBytes(from: source)
        }

        func free() { unsafe bytes.deallocate() }
    }

    /// Sets options and remembers whether libcurl took them.
    @safe
    private struct Options {
        let handle: UnsafeMutableRawPointer
        var areAccepted = true

        mutating func set(_ option: CURLoption, _ value: Int) {
            note(unsafe ccurl_set_long(handle, option, value))
        }

        mutating func set(_ option: CURLoption, _ value: String?) {
            note(unsafe ccurl_set_string(handle, option, value))
        }

        mutating func set(_ option: CURLoption, _ list: UnsafeMutablePointer<curl_slist>) {
            note(unsafe ccurl_set_list(handle, option, list))
        }

        mutating func set(_ option: CURLoption, _ block: Block) {
            note(unsafe ccurl_set_blob(handle, option, block.bytes.baseAddress, block.bytes.count))
        }

        private mutating func note(_ result: CURLcode) {
            if result != CURLE_OK { areAccepted = false }
        }
    }
}

extension SharedOptions {
    /// What is wrong with a configuration, whatever is sent; nil if nothing is.
    ///
    /// A setting that libcurl does not take is no detail: without its pins or its authorities a transport would trust
    /// whom it must not.
    static func problem(of configuration: CurlTransport.Configuration) -> TransportError? {
        if let path = configuration.unixSocketPath, path.utf8.count > longestSocketPath || path.isEmpty {
            return .misconfigured("the path of the unix-domain socket is empty or too long")
        }
        guard configuration.connectionOverrides.allSatisfy({ $0.option != nil }) else {
            return .misconfigured("a connection override is no host and port")
        }
        if let highest = configuration.tls.maximumVersion, highest < configuration.tls.minimumVersion {
            return .misconfigured("the highest TLS version is below the lowest")
        }
        guard CurlTransport.globalState, let handle = unsafe curl_easy_init() else {
            return TransportError(.outOfResources, .neverSent, message: "libcurl has no handle left")
        }
        let options = SharedOptions(configuration)
        let areAccepted = unsafe options.apply(to: handle)
        // The handle refers to the options until it is freed.
        withExtendedLifetime(options) { unsafe curl_easy_cleanup(handle) }
        return areAccepted ? nil : .misconfigured("this libcurl does not support a setting of the transport")
    }

    /// What fits into a `sockaddr_un` with its zero byte.
    private static let longestSocketPath = 107
}

extension TransportError {
    static func misconfigured(_ message: String) -> TransportError {
        TransportError(.misconfigured, .neverSent, message: message)
    }
}
