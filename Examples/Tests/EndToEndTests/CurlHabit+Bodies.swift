extension CurlHabit {
    /// Bodies and queries.
    static let bodies: [CurlHabit] = [
        CurlHabit(
            "-d",
            ["-d", "a=1", "-d", "b=2", "URL/x"],
            wire: ["POST /x ", form, "\r\n\r\na=1&b=2"],
            output: "hello"
        ),
        CurlHabit("-d", ["-da=1", "-XPUT", "URL/x"], wire: ["PUT /x ", form, "\r\n\r\na=1"]),
        CurlHabit(
            "--data",
            ["--data=a=1", "URL/x"],
            wire: ["\r\n\r\na=1"],
            difference: "curl wants a blank for the equals sign."
        ),
        CurlHabit("-d", ["-d", "", "URL/x"], wire: ["POST /x ", form, "content-length: 0"]),
        CurlHabit("-d", ["-d", "-x", "URL/x"], wire: ["\r\n\r\n-x"]),
        CurlHabit(
            "-d @",
            ["-d", "@FILE", "URL/x"],
            wire: ["\r\n\r\n\(file)"],
            difference: "A file is sent as it is; curl leaves out its line ends."
        ),
        CurlHabit("--data-ascii", ["--data-ascii", "a=1", "URL/x"], wire: ["\r\n\r\na=1"]),
        CurlHabit("--data-raw", ["--data-raw", "@FILE", "URL/x"], wire: ["\r\n\r\n@"]),
        CurlHabit("--data-binary", ["--data-binary", "@FILE", "URL/x"], wire: [form, "\r\n\r\n\(file)"]),
        CurlHabit("--data-binary", ["-d", "x=1", "--data-binary", "@FILE", "URL/x"], wire: ["\r\n\r\nx=1&\(file)"]),
        CurlHabit("--data-urlencode", ["--data-urlencode", "b c", "URL/x"], wire: ["\r\n\r\nb+c"]),
        CurlHabit("--data-urlencode", ["--data-urlencode", "=d=e ü", "URL/x"], wire: ["\r\n\r\nd%3De+%C3%BC"]),
        CurlHabit("--data-urlencode", ["--data-urlencode", "n=f&g~_-.", "URL/x"], wire: ["\r\n\r\nn=f%26g~_-."]),
        CurlHabit("--data-urlencode", ["--data-urlencode", "@FILE", "URL/x"], wire: ["\r\n\r\nfile%0D%0Acontent%0A"]),
        CurlHabit(
            "--data-urlencode",
            ["--data-urlencode", "n@FILE", "URL/x"],
            wire: ["\r\n\r\nn=file%0D%0Acontent%0A"]
        ),
        CurlHabit(
            "--data-urlencode",
            ["-d", "a", "--data-urlencode", "b c", "--data-raw", "@d", "URL/x"],
            wire: ["\r\n\r\na&b+c&@d"]
        ),
        CurlHabit(
            "--json",
            ["--json", #"{"a":"#, "--json", "1}", "URL/x"],
            wire: ["POST /x ", "content-type: application/json", "accept: application/json", "\r\n\r\n{\"a\":1}"]
        ),
        CurlHabit(
            "--json",
            ["--json", "@FILE", "-H", "Accept: text/x", "URL/x"],
            wire: ["accept: text/x", "\r\n\r\n\(file)"]
        ),
        CurlHabit(
            "-G",
            ["-G", "-d", "a=1", "-d", "b=2", "URL/x?q=1#part"],
            wire: ["GET /x?q=1&a=1&b=2 ", "!content-type"]
        ),
        CurlHabit("-G", ["-G", "-d", "@FILE", "-d", "a=1", "URL/x"], wire: ["GET /x?filecontent&a=1 "]),
        CurlHabit("-G", ["-GI", "-d", "a=1", "URL/x"], wire: ["HEAD /x?a=1 "]),
        CurlHabit("-G", ["-G", "-XDELETE", "--data-urlencode", "a=b c", "URL/x?"], wire: ["DELETE /x?a=b+c "]),
        CurlHabit(
            "--url-query",
            ["--url-query", "a=b c", "--url-query", "+d=%20", "URL/x"],
            wire: ["GET /x?a=b+c&d=%20 "]
        ),
        CurlHabit(
            "-F",
            ["-F", "a=b", "-F", "c= d ", "-F", #"e="q;\"r";type=x/y"#, "URL/x"],
            wire: [
                "POST /x ", "content-type: multipart/form-data; boundary=------------------------",
                "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--", "name=\"c\"\r\n\r\nd\r\n--",
                "name=\"e\"\r\nContent-Type: x/y\r\n\r\nq;\"r\r\n--", "--\r\n",
            ]
        ),
        CurlHabit(
            "-F @",
            ["-F", "f=@FILE", "URL/x"],
            wire: [
                "name=\"f\"; filename=\"file.txt\"\r\nContent-Type: text/plain\r\n\r\n\(file)\r\n--"
            ]
        ),
        CurlHabit(
            "-F @",
            ["-F", "f=@FILE;type=a/b; charset=c;filename=n\"m.gif", "URL/x"],
            wire: [
                "name=\"f\"; filename=\"n%22m.gif\"\r\nContent-Type: a/b; charset=c\r\n\r\n\(file)\r\n--"
            ]
        ),
        CurlHabit("-F @", ["-F", "f=@FILE;filename=n.jpeg", "URL/x"], wire: ["Content-Type: image/jpeg\r\n"]),
        CurlHabit("-F @", ["-F", "f=@FILE;filename=Report", "URL/x"], wire: ["Content-Type: text/plain\r\n"]),
        CurlHabit("-F @", ["-F", "f=@HEADERS;filename=Report", "URL/x"], wire: ["application/octet-stream\r\n"]),
        CurlHabit("-F", ["-F", "a=b;filename=x.gif", "URL/x"], wire: ["Content-Type: image/gif\r\n"]),
        CurlHabit("-F <", ["-F", "f=<FILE", "URL/x"], wire: ["name=\"f\"\r\n\r\n\(file)\r\n--"]),
        CurlHabit(
            "--form-string",
            ["--form-string", "f=@x;type=y", "URL/x"],
            wire: ["name=\"f\"\r\n\r\n@x;type=y\r\n--"]
        ),
        CurlHabit(
            "-F",
            ["-H", "Content-Type: multipart/form-data", "-F", "a=b", "URL/x"],
            wire: ["; boundary=---", "\r\n\r\nb\r\n"]
        ),
        CurlHabit(
            "-F",
            ["-H", "Content-Type: application/x-custom", "-F", "a=b", "URL/x"],
            wire: ["content-type: application/x-custom; boundary=---", "\r\n\r\nb\r\n"],
            difference: "curl calls the parts attachments then."
        ),
        CurlHabit("-T", ["-T", "FILE", "URL/dir/"], wire: ["PUT /dir/file.txt ", "!content-type", "\r\n\r\n\(file)"]),
        CurlHabit("-T", ["-T", "FILE", "URL"], wire: ["PUT /file.txt "]),
        CurlHabit("-T", ["-T", "FILE", "URL?x=1/"], wire: ["PUT /file.txt?x=1/ "]),
        CurlHabit("-T", ["-T", "FILE", "URL/dir/?x=1#part"], wire: ["PUT /dir/file.txt?x=1 "]),
        CurlHabit("-T", ["-T", "FILE", "URL/x?x=1/"], wire: ["PUT /x?x=1/ "]),
        CurlHabit("-T", ["--upload-file", "FILE", "-X", "POST", "URL/x"], wire: ["POST /x ", "\r\n\r\n\(file)"]),
        CurlHabit(
            "-I -d",
            ["-I", "-d", "a", "URL/x"],
            status: 64,
            requests: 0,
            difference: "It is wrong usage there too, with 2."
        ),
        CurlHabit(
            "-d -F",
            ["-d", "a", "-F", "a=b", "URL/x"],
            status: 64,
            requests: 0,
            difference: "It is wrong usage there too, with 2."
        ),
        CurlHabit(
            "-T",
            ["-T", "FILE", "-T", "HEADERS", "URL/x", "URL/y"],
            status: 64,
            requests: 0,
            difference: "curl sends one to each."
        ),
        CurlHabit(
            "-T",
            ["-T", "FILE", "URL/x", "URL/y"],
            status: 64,
            requests: 0,
            difference: "curl sends it to the first, and asks the second."
        ),
        CurlHabit(
            "-F",
            ["-F", "a=@-", "-F", "b=@-", "URL/x"],
            status: 64,
            requests: 0,
            difference: "curl sends an empty one."
        ),
        CurlHabit(
            "-H @-",
            ["-H", "@-", "-d", "@-", "URL/x"],
            status: 64,
            requests: 0,
            difference: "curl sends an empty body."
        ),
        CurlHabit("--data-raw", ["--data-raw", "@-", "-d", "@FILE", "URL/x"], difference: "Line ends are kept."),
    ]
}
