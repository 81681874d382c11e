import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What `--record` writes, and what `replay` makes of it.
@Suite("http-recover --record and replay", .timeLimit(.minutes(30)))
struct RecordingTests {
    /// Records calls into a file of the directory.
    private func record(_ server: FaultServer, _ options: [String], in directory: String) async throws -> String {
        let file = directory + "/calls.jsonl"
        let url = "http://\(server.authority)/items?key=s3cret"
        let arguments = ["--record", file, "-H", "Authorization: Bearer s3cret", "--backoff", "0.01,0.02"] + options
        _ = try await RunningProgram.httpRecover(arguments + [url], in: directory).result()
        return file
    }

    private func text(of file: String) throws -> String {
        let handle = unsafe try #require(fopen(file, "r"))
        defer { unsafe fclose(handle) }
        var bytes: [UInt8] = []
        while case let byte = unsafe fgetc(handle), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func replay(_ arguments: [String], in directory: String) async throws -> RunningProgram.Result {
        try await RunningProgram.replay(arguments, in: directory).result()
    }

    @Test func whatIsRecordedIsDecidedTheSame() async throws {
        let server = try FaultServer(
            .answer(503),
            .answer(429, headers: [("Retry-After", "1")]),
            .answer(body: "at last")
        )
        try await withTemporaryDirectory { directory in
            let file = try await record(server, [], in: directory)
            let result = try await replay([file], in: directory)
            #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
            for words in ["call 1: GET, at most 3 attempts", "failed unavailable (503)", "wait 1.", "-> finish"] {
                #expect(result.output.contains(words), "\(words) in \(result.output)")
            }
            let quiet = try await replay(["--quiet", file], in: directory)
            #expect(quiet.status == 0 && quiet.output.isEmpty)
            let recorded = try text(of: file)
            #expect(!recorded.contains("s3cret") && !recorded.contains("items") && !recorded.contains("127.0.0.1"))
            var state = stat()
            #expect(unsafe stat(file, &state) == 0 && state.st_mode & 0o777 == 0o600)
        }
    }

    @Test func eachCallHasItsLine() async throws {
        let server = try FaultServer { _ in .answer(500) }
        try await withTemporaryDirectory { directory in
            let file = try await record(server, ["--repeat", "3", "--max-attempts", "2"], in: directory)
            let lines = try text(of: file).split(separator: "\n")
            #expect(lines.count == 3)
            let result = try await replay([file], in: directory)
            #expect(result.status == 0)
            #expect(result.output.contains("fail unavailable attempts_exhausted"))
        }
    }

    @Test func aDecisionThatDiffersIsShownAndEndsWithOne() async throws {
        let server = try FaultServer(.answer(503), .answer())
        try await withTemporaryDirectory { directory in
            let file = try await record(server, [], in: directory)
            let recorded = try text(of: file)
            let changed = recorded.replacing(#""action":"finish""#, with: #""action":"queue""#)
            #expect(changed != recorded)
            try write(changed, to: file)
            let result = try await replay([file], in: directory)
            #expect(result.status == 1)
            #expect(result.output.contains("-> finish   (was: queue)"))
            #expect(result.errors.contains("1 of 1 calls are decided otherwise"))
        }
    }

    @Test(arguments: [
        "", "no JSON", "{}", #"{"recording":{},"policies":{}}"#, "[1]", "\u{0}",
        #"{"recording":{"method":"GET","max_attempts":3,"max_wait":"1e99","events":[]},"policies":{}}"#,
    ])
    func whatIsNoRecordingIsSaid(text: String) async throws {
        try await withTemporaryDirectory { directory in
            try write(text, to: directory + "/calls.jsonl")
            let result = try await replay([directory + "/calls.jsonl"], in: directory)
            #expect(result.status == 65)
            #expect(result.errors.contains("holds no recording") && result.output.isEmpty)
        }
    }

    @Test func wrongUsesAreRefused() async throws {
        try await withTemporaryDirectory { directory in
            #expect(try await replay([], in: directory).status == 64)
            #expect(try await replay(["a", "b"], in: directory).status == 64)
            #expect(try await replay([directory + "/missing"], in: directory).status == 65)
            let help = try await replay(["--help"], in: directory)
            #expect(help.status == 0 && help.output.contains("EXIT STATUS"))
            let both = ["--record", directory + "/x", "--no-recovery", "http://127.0.0.1:1/"]
            #expect(try await RunningProgram.httpRecover(both, in: directory).result().status == 64)
        }
    }
}
