import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Cassettes in files.
@Suite struct CassetteFileTests {
    private static let items = "https://api.example.com/items"

    private func send(_ transport: some HTTPTransport, _ url: String = items) async throws {
        let request = try HTTPRequest(method: .get, url: url)
        _ = try await transport.send(request, body: nil, options: AttemptOptions())
    }

    @Test func aFileIsRecordedOnceAndPlayedThen() async throws {
        let directory = URL.temporaryDirectory.appending(path: "cassettes-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "items.json").path
        let server = ScriptedTransport(then: .status(200))
        func use(_ mode: CassetteTransport.Mode = .recordIfAbsent, _ urls: String...) async throws -> Bool {
            try await CassetteTransport.withFile(path, mode: mode, recording: server) { transport in
                for url in urls { _ = try? await send(transport, url) }
                return transport.isRecording
            }
        }
        await #expect(throws: MessageBody.ReadError.self) { try await use(.play, Self.items) }
        struct Failed: Error {}
        await #expect(throws: Failed.self) {
            try await CassetteTransport.withFile(path, recording: server) { _ in throw Failed() }
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try await use(.recordIfAbsent, Self.items, Self.items))
        #expect(try await use(.recordIfAbsent, Self.items, Self.items) == false && server.received.count == 2)
        await #expect(throws: CassetteTransport.Unplayed.self) { try await use(.play, Self.items) }
        // The code under test has swallowed it.
        await #expect(throws: CassetteTransport.Mismatch.self) {
            try await use(.play, Self.items, Self.items, Self.items)
        }
        #expect(try await use(.record, Self.items) && server.received.count == 3)
        #expect(try await use(.play, Self.items) == false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["items.json"])
        let nowhere = directory.appending(path: "none/items.json").path
        await #expect(throws: CassetteTransport.Unwritable.self) {
            try await CassetteTransport.withFile(nowhere, recording: server) { _ in }
        }
        try Data("{".utf8).write(to: URL(filePath: path))
        await #expect(throws: Cassette.Malformed.self) { try await use(.play, Self.items) }
    }

    /// Whether it is to be played or recorded: it says so, and nothing is sent nor left behind.
    @Test(arguments: [CassetteTransport.Mode.play, .recordIfAbsent, .record])
    func aDirectoryIsNoCassette(mode: CassetteTransport.Mode) async throws {
        let directory = URL.temporaryDirectory.appending(path: "cassettes-\(UUID())")
        let path = directory.appending(path: "items.json").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let server = ScriptedTransport(then: .status(200))
        let error = await #expect(throws: (any Error).self) {
            try await CassetteTransport.withFile(path, mode: mode, recording: server) { try await send($0) }
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains(path) && text.contains("Is a directory"), "\(text)")
        #expect(server.received.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["items.json"])
    }
}
