import CurlTransport

extension CurlHabit {
    /// Whom a connection leads to, and who shows what to whom.
    static let connections: [CurlHabit] = [
        CurlHabit("--cacert", ["--cacert", "CERTIFICATE", "SECURE/x"], wire: ["GET /x "], output: "hello"),
        CurlHabit(
            "--cacert",
            ["-s", "--retry", "0", "SECURE/x"],
            output: "",
            status: 7,
            requests: 0,
            difference: "curl ends with 60."
        ),
        CurlHabit("-k", ["-k", "SECURE/x"], output: "hello"),
        CurlHabit(
            "--cert",
            ["--cacert", "CERTIFICATE", "--cert", "CERTIFICATE", "--key", "key.pem", "MUTUAL/x"],
            output: "hello"
        ),
        CurlHabit("-E", ["--cacert", "CERTIFICATE", "-EBOTH", "MUTUAL/x"], output: "hello"),
        CurlHabit("-E", ["-s", "--retry", "0", "-k", "MUTUAL/x"], output: "", status: 56, requests: 0),
        CurlHabit(
            "-E",
            ["-k", "-E", "BOTH:pass", "MUTUAL/x"],
            status: 64,
            requests: 0,
            difference: "A passphrase does not stand on the command line."
        ),
        CurlHabit(
            "--key",
            ["--key", "FILE", "URL/x"],
            status: 64,
            requests: 0,
            difference: "curl leaves it at that."
        ),
        CurlHabit(
            "--pinnedpubkey",
            ["--cacert", "CERTIFICATE", "--pinnedpubkey", "sha256//DIGEST", "SECURE/x"],
            output: "hello"
        ),
        CurlHabit(
            "--pinnedpubkey",
            ["-s", "--retry", "0", "-k", "--pinnedpubkey", wrongPin, "SECURE/x"],
            output: "",
            status: 7,
            requests: 0,
            difference: "curl ends with 90."
        ),
        CurlHabit(
            "--pinnedpubkey",
            ["-k", "--pinnedpubkey", "key.pem", "SECURE/x"],
            status: 64,
            requests: 0,
            difference: "curl takes a file with the key too."
        ),
        CurlHabit("--tlsv1.3", ["-k", "--tlsv1.3", "SECURE/x"], output: "hello"),
        CurlHabit(
            "--tlsv1.3",
            ["-s", "--retry", "0", "-k", "--tlsv1.3", "OLD/x"],
            output: "",
            status: 7,
            requests: 0,
            difference: "curl ends with 35."
        ),
        CurlHabit("--tlsv1.2", ["-k", "--tlsv1.2", "OLD/x"], output: "hello"),
        CurlHabit("--tls-max", ["-k", "--tls-max", "1.2", "SECURE/x"], output: "hello"),
        CurlHabit(
            "--unix-socket",
            ["--unix-socket", "SOCKET", "http://h.test/x"],
            wire: ["GET /x ", "host: h.test\r\n"],
            output: "hello"
        ),
        CurlHabit(
            "--unix-socket",
            ["-s", "--retry", "0", "--unix-socket", "none", "http://h.test/x"],
            output: "",
            status: 7,
            requests: 0
        ),
        CurlHabit("--noproxy", ["-x", "127.0.0.1:1", "--noproxy", "a.test,127.0.0.1", "URL/x"], output: "hello"),
        CurlHabit("--noproxy", ["-x", "127.0.0.1:PORT", "--noproxy", "a.test", "http://h.test/x"], output: "hello"),
        http3,
        CurlHabit("--noproxy", ["--noproxy", "*", "URL/x"], output: "hello"),
        CurlHabit("-x", ["-x", "", "--noproxy", "a.test", "URL/x"], output: "hello"),
        CurlHabit(
            "-x",
            ["--transport", "ahc", "-x", "", "--noproxy", "*", "URL/x"],
            output: "hello",
            difference: "curl knows no other transport."
        ),
    ]

    /// Few builds of libcurl have it.
    private static let http3 =
        CurlTransport.HTTPVersion.http3.isAvailable
        ? CurlHabit("--http3", ["-k", "--http3", "SECURE/x"], output: "hello")
        : CurlHabit(
            "--http3",
            ["-k", "--http3", "SECURE/x"],
            status: 64,
            requests: 0,
            difference: "It is wrong usage there too, with 2."
        )

    private static let wrongPin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
}
