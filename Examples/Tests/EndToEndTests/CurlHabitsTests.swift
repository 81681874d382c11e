import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// `http-recover` by curl's options: each row of the table against a server, and beside the curl of this machine.
@Suite("http-recover by curl's habits", .timeLimit(.minutes(30)), .bounded)
struct CurlHabitsTests {
    private static let curl = "/usr/bin/curl"
    /// Without the programs that the other ends are made of the rows that need them are left out.
    private static let table = all.filter { CurlFront.isAvailable || !$0.needsFront }
    private static let all = CurlHabit.bodies + CurlHabit.fields + CurlHabit.outputs + CurlHabit.connections
    /// Whether there is a curl to compare with; its older versions write some things otherwise.
    private static let hasCurl = unsafe access(curl, X_OK) == 0

    /// What came of a command line.
    private struct Run {
        var end: BuiltProgram.End
        var requests: [FaultServer.Request]
        var files: [String: String]
    }

    private static func run(_ program: String, _ habit: CurlHabit, before: [String] = []) async throws -> Run {
        let server = try FaultServer { CurlHabit.reply($0) }
        var run: Run?
        try await withTemporaryDirectory { directory in
            try write(CurlHabit.file, to: directory + "/file.txt")
            try write("X-One: 1\r\nX-Two: 2\n", to: directory + "/headers")
            let front = habit.needsFront ? try await CurlFront(before: server.port, in: directory) : nil
            defer { front?.stop() }
            let arguments = (before + habit.arguments).map { word in
                let word = word.replacing("URL", with: "http://\(server.authority)")
                    .replacing("PORT", with: "\(server.port)")
                    .replacing("FILE", with: "file.txt").replacing("HEADERS", with: "headers")
                return (front?.words ?? []).reduce(word) { $0.replacing($1.word, with: $1.value) }
            }
            // Files without a path are written in the working directory.
            let path = program.hasPrefix("/") ? program : "\(BuiltProgram.products)/\(program)"
            let line = ["-c", #"cd "$0" && exec "$@""#, directory, path]
            let end = try await BuiltProgram("/bin/sh", line + arguments, in: directory).end()
            var files: [String: String] = [:]
            for name in habit.files.keys { files[name] = contents(of: "\(directory)/\(name)") }
            run = Run(end: end, requests: server.receivedRequests, files: files)
        }
        return try #require(run)
    }

    @Test(arguments: table)
    func aRow(habit: CurlHabit) async throws {
        let run = try await Self.run("http-recover", habit)
        #expect(run.end.status == habit.status, "\(run.end.errors)")
        #expect(run.requests.count == habit.requests)
        if let output = habit.output { #expect(run.end.output == output) }
        #expect(run.files == habit.files)
        if habit.status == 64 { #expect(run.end.errors.hasPrefix("Error: "), "\(run.end.errors)") }
        let request = run.requests.last.map { $0.rawHead + $0.body } ?? []
        let text = String(decoding: request, as: UTF8.self)
        for part in habit.wire {
            let isAbsent = part.hasPrefix("!")
            let sought = isAbsent ? String(part.dropFirst()) : part
            #expect(text.lowercased().contains(sought.lowercased()) != isAbsent, "\(part) in \(text)")
        }
    }

    @Test(.enabled(if: hasCurl, "there is no curl"), arguments: table.filter { $0.difference == nil })
    func curlDoesTheSame(habit: CurlHabit) async throws {
        let ours = try await Self.run("http-recover", habit)
        let theirs = try await Self.run(Self.curl, habit, before: ["-q"])
        #expect(ours.end.status == theirs.end.status, "\(theirs.end.errors)")
        #expect(Self.plain(ours.end.output) == Self.plain(theirs.end.output))
        #expect(ours.files == theirs.files)
        #expect(ours.requests.map(Self.wire) == theirs.requests.map(Self.wire))
    }

    /// A difference is one: a row that curl does the same has to say so.
    @Test(.enabled(if: hasCurl, "there is no curl"), arguments: table.filter { $0.difference != nil })
    func aDifferenceIsOne(habit: CurlHabit) async throws {
        let ours = try await Self.run("http-recover", habit)
        let theirs = try await Self.run(Self.curl, habit, before: ["-q", "-s"])
        let isSame =
            ours.end.status == theirs.end.status && Self.plain(ours.end.output) == Self.plain(theirs.end.output)
            && ours.files == theirs.files && ours.requests.map(Self.wire) == theirs.requests.map(Self.wire)
        #expect(!isSame)
    }

    /// The request as far as the options have a say in it.
    private static func wire(_ request: FaultServer.Request) -> [String] {
        // What the two call themselves, what they ask to be compressed, and how they wait with a body.
        let own: Set = ["user-agent", "accept-encoding", "expect", "host", "connection", "proxy-connection", "via"]
        var lines = ["\(request.method) \(request.path)"]
        for field in request.headers {
            let name = field.name.canonicalName
            let isNamed =
                name == "user-agent" && !field.value.hasPrefix("curl/") && !field.value.hasPrefix("http-recover/")
            let isEmpty = name == "content-length" && field.value == "0" && request.method == "POST"
            if isNamed || (!own.contains(name) && !isEmpty) { lines.append("\(name): \(plain(field.value))") }
        }
        return lines.sorted() + [plain(String(decoding: request.body, as: UTF8.self))]
    }

    /// A text without what differs from run to run: boundaries, and the lengths and ports of a server.
    private static func plain(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        let mark = String(repeating: "-", count: 24)
        while let found = rest.firstRange(of: mark) {
            result += rest[..<found.lowerBound]
            rest = rest[found.upperBound...].drop { $0 == "-" }.drop { $0.isHexDigit }
            result += "BOUNDARY"
        }
        return (result + rest).replacing(#/127\.0\.0\.1:\d+/#, with: "HOST")
    }

    /// What stands behind a file in curl's form is a passphrase.
    @Test func aPassphraseBehindACertificateIsNotRepeated() async throws {
        let end = try await BuiltProgram.run("http-recover", ["-E", "client.pem:s3cret", "https://127.0.0.1:1/"])
        #expect(end.status == 64 && !end.errors.contains("s3cret"), "\(end.errors)")
    }

    /// Options that cannot be kept: each is refused by name, and nothing is sent.
    @Test(arguments: [
        ("--next", "for each set"), ("-:", "--next"), ("--config", "command line"), ("-K", "--config"),
        ("-n", "--token-file"),
        ("--netrc", "--token-file"), ("-c", "cookies"), ("-j", "cookies"), ("--retry-all-errors", "--replayable"),
        ("-J", "-O"), ("-R", "written"), ("--no-clobber", "whole"), ("--remove-on-error", "leave it out"),
        ("-0", "HTTP/1.1"),
        ("--http2-prior-knowledge", "--http2"),
        ("--interface", "--connect-to"),
        ("--doh-url", "--resolve"), ("--digest", "Basic"), ("--ntlm", "Basic"), ("--negotiate", "Basic"),
        ("--anyauth", "Basic"), ("--aws-sigv4", "Basic"), ("--location-trusted", "never sent"), ("--post302", "GET"),
        ("--proto-redir", "https"), ("-Y", "--idle-timeout"), ("-y", "--idle-timeout"),
        ("--limit-rate", "--concurrency"),
        ("-z", "If-Modified-Since"), ("--etag-save", "If-None-Match"), ("--fail-early", "all calls"),
        ("-#", "bytes are not"),
        ("--trace", "--verbose"), ("--trace-ascii", "--verbose"), ("--stderr", "--verbose"), ("--libcurl", "--events"),
        ("--socks5", "socks5://"), ("--socks5-hostname", "socks5h://"), ("--preproxy", "--proxy-env"),
        ("--proxy-header", "tunnel"), ("-p", "tunnel"), ("--pass", "--key-pass-env"), ("--capath", "--cacert"),
        ("--cert-type", "PEM"), ("-1", "TLS 1.2"), ("--ciphers", "--tlsv1.2"),
        ("--raw", "decoded"),
        ("--request-target", "framing"), ("--keepalive-time", "reused"), ("--happy-eyeballs-timeout-ms", "--resolve"),
        ("-Q", "another protocol"), ("-a", "another protocol"), ("--mail-from", "another protocol"), ("-M", "--help"),
        ("--hsts", "--cacert"), ("--crlf", "as they are"), ("--rate", "--concurrency"),
        ("--time-cond", "If-Modified-Since"),
    ])
    func whatCannotBeKeptIsRefusedByName(option: String, word: String) async throws {
        let server = try FaultServer(.answer())
        for arguments in [[option], ["-s" + option.dropFirst()]] where !option.hasPrefix("--") || arguments == [option]
        {
            let end = try await BuiltProgram.run("http-recover", arguments + ["x", "http://\(server.authority)/"])
            #expect(end.status == 64)
            let line = try #require(end.errors.split(separator: "\n").first)
            #expect(line.hasPrefix("Error: \(option) ") && line.contains(word), "\(line)")
        }
        #expect(server.connectionCount == 0)
    }

    /// An option as the program knows it.
    private struct Known {
        /// With their dashes.
        var names: Set<String>
        var takesValue: Bool
    }

    private static func known() async throws -> [Known] {
        let help = try await BuiltProgram.run("http-recover", ["--experimental-dump-help"])
        let arguments = try JSONValue(parsing: help.output)["command"]?["arguments"]?.array ?? []
        let known = arguments.map { argument in
            let names = (argument["names"]?.array ?? []).compactMap { name in
                name["name"]?.string.map { name["kind"] == "short" ? "-\($0)" : "--\($0)" }
            }
            return Known(names: Set(names), takesValue: argument["kind"] == "option")
        }
        try #require(known.count > 80)
        return known
    }

    /// The long names of all that the curl of this machine knows.
    private static func curls() async throws -> [String] {
        let list = try await BuiltProgram.run(curl, ["--help", "all"])
        let names = list.output.split(separator: "\n").compactMap { line in
            line.split(whereSeparator: { $0 == " " || $0 == "," }).first { $0.hasPrefix("--") }.map(String.init)
        }
        try #require(names.count > 200)
        return names
    }

    /// All that the curl of this machine knows is either done or refused by name.
    @Test(.enabled(if: hasCurl, "there is no curl"))
    func everyOptionOfCurlsIsKeptOrRefused() async throws {
        let known = try await Self.known().reduce(into: Set(["--help", "--version"])) { $0.formUnion($1.names) }
        for name in try await Self.curls() where !known.contains(name) {
            let end = try await BuiltProgram.run("http-recover", [name, "x", "http://127.0.0.1:1/"])
            #expect(
                end.status == 64 && end.errors.hasPrefix("Error: \(name) is curl's and is not kept here: "),
                "\(name)"
            )
        }
    }

    /// What is kept of curl's is in the table.
    @Test(.enabled(if: hasCurl, "there is no curl"))
    func everyOptionThatIsKeptHasARow() async throws {
        let known = try await Self.known()
        let withValue = known.filter(\.takesValue).reduce(into: Set()) { $0.formUnion($1.names) }
        let used = Self.all.reduce(into: Set()) { $0.formUnion(Self.options(of: $1.arguments, withValue)) }
        let curls = Set(try await Self.curls()).subtracting(["--help", "--version"])
        for option in known where !option.names.isDisjoint(with: curls) {
            #expect(!option.names.isDisjoint(with: used), "no row has \(option.names.sorted())")
        }
        #expect(
            Self.options(of: ["-sSo", "-v", "--json=x", "-XPUT", "--key", "-k", "u"], withValue).sorted() == [
                "--json", "--key", "-S", "-X", "-o", "-s",
            ]
        )
    }

    /// The options on a command line, each as it is written there.
    private static func options(of words: [String], _ withValue: Set<String>) -> Set<String> {
        var (found, rest): (Set<String>, ArraySlice<String>) = ([], words[...])
        while let word = rest.popFirst() {
            if word.hasPrefix("--") {
                let name = String(word.prefix { $0 != "=" })
                found.insert(name)
                if name == word, withValue.contains(name) { rest = rest.dropFirst() }
            } else if word.hasPrefix("-") {
                var letters = word.dropFirst()
                while let letter = letters.popFirst() {
                    found.insert("-\(letter)")
                    guard withValue.contains("-\(letter)") else { continue }
                    if letters.isEmpty { rest = rest.dropFirst() }
                    break
                }
            }
        }
        return found
    }

    @Test(arguments: [
        (["-s"], ""), (["-sS"], "http-recover: "), (["--quiet"], "http-recover: "), ([], "http-recover: "),
        (["-s", "-w", "%{stderr}%{http_code}"], "000"),
    ])
    func silenceIsSilent(options: [String], errors: String) async throws {
        let port = try RefusingPort()
        let end = try await BuiltProgram.run("http-recover", options + ["--retry", "0", "http://\(port.authority)/"])
        #expect(end.status == 7)
        #expect(errors.isEmpty ? end.errors.isEmpty : end.errors.hasPrefix(errors), "\(end.errors)")
    }

    /// Why a redirect is not followed is told as it is.
    @Test(arguments: [("/moved/user", "a URL with a user name in it"), ("/moved/ftp", "no http or https URL")])
    func aRedirectThatIsNotFollowed(path: String, reason: String) async throws {
        let server = try FaultServer { CurlHabit.reply($0) }
        let end = try await BuiltProgram.run("http-recover", ["-L", "http://\(server.authority)\(path)"])
        #expect(end.status == 22 && end.errors.contains("The redirect leads to \(reason)"), "\(end.errors)")
    }

    @Test func verboseShowsHeadsWithoutSecrets() async throws {
        let server = try FaultServer(.answer(headers: [("Set-Cookie", "s3cret"), ("Retry-After", "1")], body: "hello"))
        let arguments = ["-v", "-u", "ada:s3cret", "-b", "k=s3cret", "-e", "http://r/s3cret"]
        let end = try await BuiltProgram.run("http-recover", arguments + ["http://\(server.authority)/x?key=s3cret"])
        #expect(end.status == 0 && end.output == "hello")
        var rest = end.errors[...]
        for line in [
            "> GET /x?…\n", "> Host: 127.0.0.1:", "> User-Agent: http-recover/", ">\n", "< HTTP/1.1 200",
            "< Set-Cookie: …\n",
            "< Retry-After: 1\n", "<\n",
        ] {
            let found = try #require(rest.firstRange(of: line), "\(line) in \(end.errors)")
            rest = rest[found.upperBound...]
        }
        #expect(end.errors.contains("> Authorization: …\n"))
        #expect(!end.errors.contains("s3cret") && !end.errors.contains("YWRh"))
    }

    /// What the budget leaves of the attempts is said before the first, and not when they are over.
    @Test(arguments: [
        (["--max-attempts", "20"], true), (["--retry", "19"], true), (["--retry", "10"], false), ([], false),
        (["--retry", "19", "--budget-burst", "19"], false), (["--retry", "19", "-s"], false),
        (["--retry", "19", "-q"], false),
    ])
    func aBudgetThatMayEndACallIsToldAtTheStart(options: [String], isTold: Bool) async throws {
        let server = try FaultServer(.answer())
        let end = try await BuiltProgram.run("http-recover", options + ["http://\(server.authority)/"])
        #expect(end.status == 0)
        #expect(end.errors.contains("--budget-burst 19 allows them all.") == isTold, "\(end.errors)")
    }

    @Test func withTheBudgetAllAttemptsAreMade() async throws {
        let server = try FaultServer { _ in .answer(503) }
        let end = try await BuiltProgram.run(
            "http-recover",
            ["--retry", "13", "--budget-burst", "13", "--backoff", "0,0", "http://\(server.authority)/"]
        )
        #expect(end.status == 22 && server.receivedRequests.count == 14)
    }

    @Test(arguments: [[], ["--token-url", "http://127.0.0.1:1/token", "--client-id", "cli"]])
    func aTokenFileThatIsMissingIsTold(options: [String]) async throws {
        let server = try FaultServer(.answer())
        let file = ["--token-file", "/nonexistent/tokens.json"]
        let end = try await BuiltProgram.run("http-recover", file + options + ["http://\(server.authority)/"])
        #expect(end.status == 65)
        #expect(end.errors.hasPrefix("http-recover: /nonexistent/tokens.json cannot be read: No such file"))
        #expect(server.connectionCount == 0)
    }

    /// The head goes out with the body's first byte: an attempt that breaks off before that can begin anew.
    @Test func aHeadIsWrittenOnce() async throws {
        let server = try FaultServer(
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").then(.reset),
            .answer(body: "hello")
        )
        let end = try await BuiltProgram.run("http-recover", ["-i", "--backoff", "0,0", "http://\(server.authority)/"])
        #expect(end.status == 0)
        #expect(end.output == "HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello")
    }

    @Test(arguments: [
        ["-i", "-C", "-"], ["-D", "-", "-o", "-", "-o", "f", "URL"], ["-o", "f", "--repeat", "2"],
        ["--repeat", "2", "-i", "-Z"],
        ["--proto", "=https"], ["--proto", "=ftp"], ["--proto", "https"], ["-F", "a"], ["-F", "a=b;c=d"],
        ["-F", "a=@f1,f2"], ["-F", "a=\"open"], ["-F", "=x"], ["-r", "x"],
        ["-e", ";auto"],
        ["-U", "a:b"], ["--retry", "3", "--max-attempts", "2"], ["--retry", "-1"],
        ["--retry-delay", "1", "--backoff", "1,2"],
        ["-u", "a:b", "--oauth2-bearer", "t"], ["-T", ""],
        ["-m", "1", "--deadline", "1"], ["--max-body", "1", "--max-filesize", "1"], ["--deadline", "0"],
        ["-T", "/dev/null", "-G"], ["-d", "@-", "--data-binary", "@-"], ["-u", "a:\u{1}", "-A", "\u{1}"],
    ])
    func whatContradictsItselfIsRefused(options: [String]) async throws {
        let server = try FaultServer(.answer())
        let url = "http://\(server.authority)/"
        let end = try await BuiltProgram.run("http-recover", options.map { $0 == "URL" ? url : $0 } + [url])
        #expect(end.status == 64, "\(end.errors)")
        #expect(server.connectionCount == 0)
    }

    /// Whatever it is put together from, a body that is sent again is the same to the byte.
    @Test(arguments: [
        ["-F", "a=b", "-F", "f=@FILE"], ["-F", "a=b"], ["-T", "FILE"], ["-d", "@FILE", "-d", "x=1"], ["-d", "@-"],
        ["-T", "-"],
    ])
    func aBodyIsTheSameOnEachAttempt(options: [String]) async throws {
        let server = try FaultServer(.answer(503, headers: [("Retry-After", "0")]), .reset, .answer(body: "done"))
        try await withTemporaryDirectory { directory in
            try write(CurlHabit.file, to: directory + "/file.txt")
            let words = options.map { $0.replacing("FILE", with: directory + "/file.txt") }
            let more = ["--replayable", "--backoff", "0,0", "http://\(server.authority)/x"]
            let end = try await BuiltProgram("http-recover", words + more, in: directory, input: CurlHabit.file).end()
            #expect(end.status == 0 && end.output == "done", "\(end.errors)")
            let bodies = server.receivedRequests.map { String(decoding: $0.body, as: UTF8.self) }
            #expect(bodies.count == 3 && Set(bodies).count == 1)
            #expect(bodies.first?.contains(options == ["-F", "a=b"] ? "\r\n\r\nb\r\n" : CurlHabit.file) == true)
        }
    }

    /// Of several downloads that are interrupted none leaves a part of a file.
    @Test func anInterruptionLeavesNoPartOfSeveralFiles() async throws {
        let server = try FaultServer { request in
            request.path == "/whole"
                ? .answer(body: "hello") : .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun").then(.stall)
        }
        try await withTemporaryDirectory { directory in
            let files = ["-o", "\(directory)/one", "-o", "\(directory)/two", "--events", "\(directory)/events"]
            let urls = ["/whole", "/part"].map { "http://\(server.authority)\($0)" }
            let program = try BuiltProgram("http-recover", files + urls, in: directory)
            while contents(of: directory + "/events").split(separator: "\n").count(where: {
                $0.contains("\"response\"")
            }) < 2 {
                try await Task.sleep(for: .milliseconds(5))
            }
            program.signal(SIGINT)
            let end = await program.end()
            #expect(end.status == 130)
            #expect(names(in: directory) == ["err", "events", "in", "one", "out"])
            #expect(contents(of: directory + "/one") == "hello")
        }
    }
}
