import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Files that an answer goes to: whose they are, and what is told where one cannot be opened.
@Suite("The files of answers", .timeLimit(.minutes(30)), .bounded)
struct OutputFileTests {
    private static let isRoot = geteuid() == 0

    /// Whoever owns a file still does when it is replaced.
    @Test(.enabled(if: isRoot, "root alone gives files away"), arguments: ["-o", "-D"])
    func aFileKeepsItsOwner(option: String) async throws {
        let server = try FaultServer { CurlHabit.reply($0) }
        try await withTemporaryDirectory { directory in
            let file = directory + "/file"
            try write("before", to: file)
            try #require(unsafe chown(file, 1234, 5678) == 0)
            try #require(unsafe chmod(file, 0o640) == 0)
            let words = [option, file, "http://\(server.authority)/x"]
            let end = try await BuiltProgram("http-recover", words, in: directory).end()
            #expect(end.status == 0 && contents(of: file).hasSuffix(option == "-o" ? "hello" : "\r\n\r\n"), "\(end)")
            var status = stat()
            // The call fills the local value.
            let isThere = unsafe stat(file, &status) == 0
            #expect(isThere && status.st_uid == 1234 && status.st_gid == 5678 && status.st_mode & 0o777 == 0o640)
        }
    }

    /// Silence holds before anything is sent too.
    @Test(arguments: [("-s", false), ("-sS", true)])
    func aFileThatCannotBeOpened(option: String, isTold: Bool) async throws {
        let server = try FaultServer(.answer())
        let words = [option, "-o", "/nonexistent/x", "http://\(server.authority)/"]
        let end = try await BuiltProgram.run("http-recover", words)
        #expect(end.status == 65 && end.errors.isEmpty != isTold, "\(end)")
        #expect(server.connectionCount == 0)
    }

    /// A call that cannot begin ends like any other that fails, for people and for programs.
    @Test func aFileThatCannotBeOpenedIsOneOfSeveral() async throws {
        let server = try FaultServer { CurlHabit.reply($0) }
        try await withTemporaryDirectory { directory in
            let files = ["-o", "/nonexistent/x", "-o", directory + "/saved"]
            let urls = ["/x", "/y"].map { "http://\(server.authority)\($0)" }
            let told = ["--events", directory + "/events", "--summary"]
            let end = try await BuiltProgram("http-recover", files + told + urls, in: directory).end()
            #expect(end.status == 65 && end.errors.contains("calls     2: 1 ok, 1 failed"), "\(end)")
            let events = try contents(of: directory + "/events").split(separator: "\n").map { line in
                try JSONValue(parsing: String(line))
            }
            let first = events.filter { $0["call"]?.number?.saturatedInt == 1 }
            #expect(first.compactMap { $0["event"]?.string } == ["giving_up", "done"], "\(events)")
            #expect(first.last?["outcome"]?.string == "failed")
            #expect(contents(of: directory + "/saved") == "hello")
        }
    }
}
