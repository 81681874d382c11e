extension CurlHabit {
    /// What is written, and where.
    static let outputs: [CurlHabit] = [
        CurlHabit("-i", ["-i", "URL/x"], output: head + "hello"),
        CurlHabit(
            "-iL",
            ["-sSfiL", "URL/moved"],
            output: "HTTP/1.1 302 \r\nLocation: /there\r\nContent-Length: 0\r\n\r\n\(head)hello",
            requests: 2
        ),
        CurlHabit(
            "-iL",
            ["-siL", "--retry", "0", "URL/moved/dead"],
            output: "HTTP/1.1 302 \r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            status: 7
        ),
        CurlHabit("-o", ["-o", "saved", "URL/x"], output: "", files: ["saved": "hello"]),
        CurlHabit("-o", ["-osaved", "URL/404"], output: "", files: ["saved": "none"], status: 22, difference: fails),
        CurlHabit(
            "-o",
            ["-o", "one", "-o", "two", "URL/x", "URL/y"],
            output: "200\n200\n",
            files: ["one": "hello", "two": "hello"],
            requests: 2,
            difference: lines
        ),
        CurlHabit("-o", ["-o", "-", "-o", "-", "URL/x", "URL/y"], output: "hellohello", requests: 2),
        CurlHabit("-o", ["-o", "-", "URL/x", "URL/y"], output: "hellohello", requests: 2),
        CurlHabit(
            "-o",
            ["-o", "one", "-o", "two", "URL/x"],
            status: 64,
            requests: 0,
            difference: "curl leaves it at that."
        ),
        CurlHabit(
            "-o",
            ["-o", "saved", "URL/long404"],
            output: "",
            files: ["saved": ""],
            status: 22,
            difference: "The body of an error is read to 1 MiB, and no file has a part of one."
        ),
        CurlHabit("-o", ["-o", "FILE", "URL/304"], output: "", files: ["file.txt": file]),
        CurlHabit("-N", ["-No", "FILE", "URL/304"], output: "", files: ["file.txt": file]),
        CurlHabit(
            "-C",
            ["-C", "-", "-o", "FILE", "URL/304"],
            wire: ["range: bytes=14-"],
            output: "",
            files: ["file.txt": file]
        ),
        CurlHabit(
            "-i",
            ["-io", "FILE", "URL/304"],
            output: "",
            files: ["file.txt": "HTTP/1.1 304 Not Modified\r\nX-A: 1\r\n\r\n"]
        ),
        CurlHabit("-f", ["-f", "-o", "saved", "URL/404"], output: "", files: ["saved": ""], status: 22),
        CurlHabit(
            "-i",
            ["-siL", "--max-redirs", "0", "-D", "heads", "URL/moved"],
            output: "HTTP/1.1 302 \r\nLocation: /there\r\nContent-Length: 0\r\n\r\n",
            files: ["heads": "HTTP/1.1 302 \r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"],
            status: 22,
            difference: "curl ends with 47."
        ),
        CurlHabit("-f", ["-f", "URL/404"], output: "", status: 22),
        CurlHabit(
            "-f",
            ["-fi", "URL/404"],
            output: "HTTP/1.1 404 \r\nX-A: 1\r\nContent-Length: 4\r\n\r\n",
            status: 22
        ),
        CurlHabit("--fail-with-body", ["--fail-with-body", "URL/404"], output: "none", status: 22),
        CurlHabit("without -f", ["URL/404"], output: "none", status: 22, difference: fails),
        CurlHabit("-O", ["-O", "URL/dir/name.txt?q=1"], output: "", files: ["name.txt": "hello"]),
        CurlHabit(
            "-O",
            ["-sSfLO", "--output-dir", "sub", "--create-dirs", "URL/name.txt"],
            output: "",
            files: ["sub/name.txt": "hello"]
        ),
        CurlHabit(
            "--remote-name-all",
            ["--remote-name-all", "URL/a", "URL/b"],
            output: "200\n200\n",
            files: ["a": "hello", "b": "hello"],
            requests: 2,
            difference: lines
        ),
        CurlHabit("-O", ["-O", "URL/"], status: 64, requests: 0, difference: "curl ends with 23."),
        CurlHabit("-C", ["-C", "-", "-o", "saved", "URL/x"], output: "", files: ["saved": "hello"]),
        CurlHabit("-D", ["-D", "heads", "URL/x"], output: "hello", files: ["heads": head]),
        CurlHabit("-D", ["-D", "-", "URL/x"], output: head + "hello"),
        CurlHabit(
            "-D",
            ["-D", "-", "-o", "saved", "-w", "%{http_code}", "URL/x"],
            output: head + "200",
            files: ["saved": "hello"]
        ),
        CurlHabit("-D", ["-D", "-", "-o", "saved", "URL/x"], output: head, files: ["saved": "hello"]),
        CurlHabit(
            "-D",
            ["-LD", "heads", "URL/moved"],
            output: "hello",
            files: ["heads": "HTTP/1.1 302 \r\nLocation: /there\r\nContent-Length: 0\r\n\r\n\(head)"],
            requests: 2
        ),
        CurlHabit(
            "-i",
            ["-i", "URL/x", "URL/404"],
            output: head + "hello" + "HTTP/1.1 404 \r\nX-A: 1\r\nContent-Length: 4\r\n\r\nnone",
            status: 22,
            requests: 2,
            difference: fails
        ),
        CurlHabit(
            "-Z",
            ["-Z", "--parallel-max", "2", "-o", "one", "-o", "two", "URL/x", "URL/y"],
            files: ["one": "hello", "two": "hello"],
            requests: 2,
            difference: lines
        ),
        CurlHabit(
            "--max-filesize",
            ["--max-filesize", "4", "-o", "saved", "URL/x"],
            files: ["saved": ""],
            status: 56,
            difference: "curl ends with 63."
        ),
        CurlHabit(
            "--max-filesize",
            ["-s", "--max-filesize", "4", "URL/x"],
            output: "",
            status: 56,
            difference: "curl ends with 63."
        ),
        CurlHabit(
            "--max-filesize",
            ["-sm", "0.5", "--max-filesize", "3", "URL/open"],
            output: "beg",
            status: 28,
            difference: "curl goes by the length that is announced, or ends with 63."
        ),
        CurlHabit(
            "--max-filesize",
            ["-s", "--transport", "ahc", "--max-filesize", "4", "URL/x"],
            output: "",
            status: 56,
            difference: "curl knows no other transport."
        ),
        CurlHabit(
            "-w",
            [
                "-o", "saved", "-w",
                #"%{http_code}|%{response_code}|%{method}|%{num_headers}|%{num_redirects}|%{size_download}|%{size_header}|%{exitcode}|%{errormsg}|%{filename_effective}|%{redirect_url}|%{referer}|%{urlnum}|%{http_version}|%{content_type}|%{remote_ip}|%{num_connects}|%header{X-A}|100%%\n%{onerror}no"#,
                "-e", "r", "URL/x",
            ],
            output: "200|200|GET|2|0|5|46|0||saved||r|0|1.1||127.0.0.1|1|1|100%\n"
        ),
        CurlHabit(
            "-w",
            ["-sLw", #"\t%{header_json}%{url} %{url_effective} %{num_redirects}"#, "URL/moved"],
            requests: 2
        ),
        CurlHabit("-w", ["-sw", "%{redirect_url}", "URL/moved"]),
        CurlHabit("-w", ["-sw", "%header{x-a}", "URL/twice"], output: "hello1"),
        CurlHabit("-w", ["-sw", "%{url}", "URL/a/../x#part"]),
        CurlHabit("-w", ["-sw", "%{url}", "-T", "FILE", "URL"]),
        CurlHabit(
            "-w",
            ["-sw", "%{url}", "http://u:p@127.0.0.1:PORT/x"],
            wire: ["authorization: basic dTpw"],
            difference: "curl writes the password too."
        ),
        CurlHabit("-w", ["-sw", "%{HTTP_Code}%{STDERR}x%{StdOut}y", "URL/x"], output: "hello200y"),
        CurlHabit("-w", ["-sw", "%{redirect_url}", "URL/moved/on"]),
        CurlHabit("-w", ["-sw", "%{redirect_url}", "URL/moved/ftp"], output: "ftp://h.test/x"),
        CurlHabit("-w", ["-sw", "%{redirect_url}", "URL/moved/user"], output: "http://u:p@h.test/z"),
        CurlHabit("-w", ["-sw", "%{redirect_url}", "URL/moved/part"]),
        CurlHabit("-w", ["-sw", "%{redirect_url}", "URL/choices"]),
        CurlHabit(
            "-w",
            ["-sw", "%{urlnum} ", "--repeat", "2", "URL/x", "URL/y"],
            output: "0 1 0 1 ",
            requests: 4,
            difference: "curl has no --repeat."
        ),
        CurlHabit(
            "-w",
            ["-sw", "%output{saved}a", "URL/x"],
            output: "helloa",
            files: ["saved": ""],
            difference: "It is named as unknown."
        ),
        CurlHabit(
            "-w",
            [
                "-sw", "%{http_code} %{exitcode} %{filename_effective} ", "-o", "/nonexistent/x", "-o", "saved",
                "URL/x", "URL/y",
            ],
            output: "000 65 /nonexistent/x 200 0 saved ",
            files: ["saved": "hello"],
            status: 65,
            difference: "curl sends the request, and ends as the last one does."
        ),
        CurlHabit("-w @", ["-w", "@FILE", "URL/x"], output: "hellofilecontent"),
        CurlHabit("-w", ["-w", "%{stdout}a%{stderr}b", "URL/x"], output: "helloa"),
        CurlHabit(
            "--max-body",
            ["--max-body", "4", "-o", "saved", "URL/x"],
            files: ["saved": ""],
            status: 56,
            difference: "curl knows it as --max-filesize."
        ),
        CurlHabit("-v", ["-v", "URL/x"], wire: ["GET /x "], output: "hello"),
        CurlHabit("-v", ["-svo", "saved", "URL/x"], output: "", files: ["saved": "hello"]),
        CurlHabit("-S", ["-S", "URL/x"], output: "hello"),
        CurlHabit("-S", ["-S", "-f", "URL/404"], output: "", status: 22),
        CurlHabit("-m", ["-sm", "0.5", "URL/hang"], output: "", status: 28),
        CurlHabit("-N", ["-sN", "-m", "1", "URL/begun"], output: "begun", status: 28),
        CurlHabit("-N", ["-sNo", "saved", "-m", "1", "URL/begun"], output: "", files: ["saved": "begun"], status: 28),
        CurlHabit("-m", ["-sm", "1", "URL/begun"], output: "begun", status: 28),
        CurlHabit(
            "-m",
            ["-sm", "1", "-o", "saved", "URL/begun"],
            output: "",
            files: ["saved": ""],
            status: 28,
            difference: "Without -N a file appears when it is whole."
        ),
        CurlHabit(
            "URL",
            ["URL/{a,b}"],
            wire: ["GET /{a,b} "],
            output: "hello",
            difference: "Braces and brackets in a URL mean nothing."
        ),
        CurlHabit("--max-time", ["--max-time", "0.5", "-s", "URL/hang"], output: "", status: 28),
        CurlHabit("-m", ["-m", "0", "--connect-timeout", "0", "--max-filesize", "0", "URL/x"], output: "hello"),
        CurlHabit("-m", ["-m", "30", "--connect-timeout", "5", "URL/x"], output: "hello"),
        CurlHabit(
            "--retry",
            ["--retry", "2", "--retry-delay", "1", "--retry-connrefused", "-sf", "URL/busy"],
            output: "",
            status: 22,
            requests: 3
        ),
        CurlHabit("-i", ["-i", "--hedge", "5", "URL/x"], output: head + "hello", difference: "curl knows no hedges."),
        CurlHabit(
            "-f",
            ["-f", "-o", "one", "-o", "two", "URL/x", "URL/404"],
            output: "200\n404\n",
            files: ["one": "hello", "two": ""],
            status: 22,
            requests: 2,
            difference: lines
        ),
        CurlHabit("--retry", ["--retry", "0", "-sf", "URL/busy"], output: "", status: 22),
        CurlHabit(
            "--retry-max-time",
            ["--retry", "5", "--retry-delay", "2", "--retry-max-time", "1", "-sf", "URL/busy"],
            output: "",
            status: 22,
            difference: "A wait that would end too late is not begun."
        ),
        CurlHabit(
            "without --retry",
            ["--backoff", "0,0", "URL/busy"],
            output: "busy",
            status: 22,
            requests: 3,
            difference: tried
        ),
        CurlHabit("--retry-max-time", ["--retry-max-time", "0", "URL/x"], output: "hello"),
        CurlHabit("--no-progress-meter", ["--no-progress-meter", "--disable", "URL/x"], output: "hello"),
    ]
}
