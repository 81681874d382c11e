extension CurlHabit {
    /// Header fields, methods and what asks for them.
    static let fields: [CurlHabit] = [
        CurlHabit("-u", ["-u", "a:b", "URL/x"], wire: ["authorization: Basic YTpi"]),
        CurlHabit(
            "-u",
            ["--user", "a:", "-H", "Authorization: own", "URL/x"],
            wire: ["authorization: own", "!Basic"]
        ),
        CurlHabit("-u", ["-u", "a", "URL/x"], status: 64, requests: 0, difference: "curl asks for the password."),
        CurlHabit("--basic", ["--basic", "-u", "a:b", "URL/x"], wire: ["authorization: Basic YTpi"]),
        CurlHabit("--oauth2-bearer", ["--oauth2-bearer", "t", "URL/x"], wire: ["authorization: Bearer t"]),
        CurlHabit("-A", ["-A", "me/1", "URL/x"], wire: ["user-agent: me/1"]),
        CurlHabit("-A", ["-A", "", "URL/x"], wire: ["!user-agent"]),
        CurlHabit("-e", ["-e", "http://ref/", "URL/x"], wire: ["referer: http://ref/"]),
        CurlHabit("-b", ["-b", "a=1", "-b", "b=2", "URL/x"], wire: ["cookie: a=1;b=2"]),
        CurlHabit(
            "-b",
            ["-b", "jar.txt", "URL/x"],
            status: 64,
            requests: 0,
            difference: "Files of cookies are not read."
        ),
        CurlHabit("-r", ["-r", "0-3", "URL/x"], wire: ["range: bytes=0-3"]),
        CurlHabit(
            "-r",
            ["-T", "FILE", "-r", "0-3", "URL/x"],
            status: 64,
            requests: 0,
            difference: "curl sends all of the file, with a Content-Range."
        ),
        CurlHabit(
            "-H",
            ["-H", "Accept:", "-H", "X-E;", "-H", "X-V: 1", "URL/x"],
            wire: ["!accept:", "x-e:\r\n", "x-v: 1"]
        ),
        CurlHabit("-H", ["-H", "Accept-Encoding:", "URL/x"], wire: ["!accept-encoding"], output: "hello"),
        CurlHabit("-H", ["-H", "Accept-Encoding:", "URL/coded"], wire: ["!accept-encoding"], output: "coded"),
        CurlHabit(
            "-H",
            ["--transport", "ahc", "-H", "Accept-Encoding:", "URL/coded"],
            wire: ["!accept-encoding"],
            output: "coded",
            difference: "curl knows no other transport."
        ),
        CurlHabit(
            "-H Host",
            ["-H", "Host:", "URL/x"],
            status: 64,
            requests: 0,
            difference: "curl sends none, and that is no HTTP/1.1."
        ),
        CurlHabit(
            "-H Content-Length",
            ["-d", "a", "-H", "Content-Length:", "URL/x"],
            status: 64,
            requests: 0,
            difference: "curl sends none, and nobody knows where the body ends."
        ),
        CurlHabit("-H @", ["-H", "@HEADERS", "URL/x"], wire: ["x-one: 1", "x-two: 2"]),
        CurlHabit(
            "-H Host",
            ["-H", "Host: other", "URL/x"],
            status: 64,
            requests: 0,
            difference: "The host is the URL's."
        ),
        CurlHabit(
            "-H Expect",
            ["-H", "Expect: x", "URL/x"],
            status: 64,
            requests: 0,
            difference: "Framing cannot be said."
        ),
        CurlHabit("-H Content-Length", ["-X", "POST", "-H", "Content-Length: 0", "URL/x"], wire: ["POST /x "]),
        CurlHabit("-X", ["-XDELETE", "URL/x"], wire: ["DELETE /x "], output: "hello"),
        CurlHabit("-I", ["-I", "URL/x"], wire: ["HEAD /x "], output: head),
        CurlHabit("-I", ["-I", "-X", "GET", "URL/x"], wire: ["GET /x "], output: head),
        CurlHabit("-L", ["-L", "URL/moved"], wire: ["GET /there "], output: "hello", requests: 2),
        CurlHabit("--max-redirs", ["--max-redirs", "3", "URL/moved"], output: ""),
        CurlHabit(
            "--max-redirs",
            ["-L", "--max-redirs", "0", "URL/moved"],
            status: 22,
            difference: "curl ends with 47."
        ),
        CurlHabit("--proto", ["--proto", "=http,https", "URL/x"], wire: ["GET /x "]),
        CurlHabit("--proto", ["--proto", "=https", "URL/x"], status: 64, requests: 0, difference: "curl ends with 1."),
        CurlHabit("URL", ["127.0.0.1:PORT/x"], status: 64, requests: 0, difference: "A URL has its protocol in front."),
        CurlHabit("--url", ["--url", "URL/x"], wire: ["GET /x "]),
        CurlHabit("URL", ["URL/a/../b/./c?x=/../y#/../z"], wire: ["GET /b/c?x=/../y "]),
        CurlHabit("URL", ["-G", "-d", "q", "URL/a//../b/.."], wire: ["GET /a/?q "]),
        CurlHabit("URL", ["URL/../../x"], wire: ["GET /x "]),
        CurlHabit("URL", ["URL/a/%2e%2e/..b/..."], wire: ["GET /a/%2e%2e/..b/... "]),
        CurlHabit("URL", ["URL/.."], wire: ["GET / "]),
        CurlHabit("-g", ["-gN", "--path-as-is", "URL/a/../x"], wire: ["GET /a/../x "]),
        CurlHabit("--compressed", ["--compressed", "URL/x"], wire: ["accept-encoding: "], output: "hello"),
        CurlHabit("--http1.1", ["--http1.1", "URL/x"], wire: ["GET /x HTTP/1.1"]),
        CurlHabit(
            "--http2",
            ["--http2", "URL/x"],
            wire: ["GET /x HTTP/1.1"],
            difference: "Over plain text no Upgrade is sent."
        ),
        CurlHabit(
            "--resolve",
            ["--resolve", "h.test:PORT:127.0.0.1", "http://h.test:PORT/x"],
            wire: ["host: h.test:"]
        ),
        CurlHabit(
            "--connect-to",
            ["--connect-to", "h.test:80:127.0.0.1:PORT", "http://h.test/x"],
            wire: ["host: h.test\r\n"]
        ),
        CurlHabit("--connect-to", ["--connect-to", ":::PORT", "http://127.0.0.1/x"], wire: ["host: 127.0.0.1\r\n"]),
        CurlHabit("-k", ["-k", "--tlsv1.2", "URL/x"], wire: ["GET /x "]),
        CurlHabit("-4", ["-4", "http://localhost:PORT/x"], wire: ["GET /x "]),
        CurlHabit("-6", ["-s6", "--retry", "0", "http://127.0.0.1:PORT/x"], output: "", status: 7, requests: 0),
        CurlHabit("--tls-max", ["--tls-max", "1.3", "URL/x"], wire: ["GET /x "]),
        CurlHabit("-x", ["-x", "127.0.0.1:PORT", "http://h.test/x"], wire: ["GET http://h.test/x "]),
        CurlHabit(
            "-U",
            ["-x", "127.0.0.1:PORT", "-U", "a:b@c", "--proxy-basic", "http://h.test/x"],
            wire: [
                "proxy-authorization: Basic YTpiQGM="
            ]
        ),
        CurlHabit(
            "--url",
            ["--url", "--max-body=1", "URL/x"],
            status: 64,
            requests: 0,
            difference: "curl takes it for a host."
        ),
        CurlHabit("-b", ["-b", "", "URL/x"], status: 64, requests: 0, difference: "No cookies are kept."),
        CurlHabit("-D", ["-D", "", "URL/x"], status: 64, requests: 0, difference: "curl sends the request."),
        CurlHabit(
            "-w",
            ["--transport", "ahc", "-w", "%{time_connect}", "URL/x"],
            status: 64,
            requests: 0,
            difference: "curl knows no other transport."
        ),
    ]
}
