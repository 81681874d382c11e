import Foundation
import Testing

/// An instance of the backend, as a process of its own.
final class Backend: Sendable {
    let url: String
    private let id: Int32

    /// Starts an instance.
    ///
    /// - Parameters:
    ///   - frontendAPI: Where Clerk's API is.
    ///   - state: The file that the instances share.
    init(frontendAPI: String, state: String) async throws {
        let process = Process()
        process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent()
            .appendingPathComponent("sign-in-backend")
        process.arguments = [
            "--listen", "127.0.0.1:0", "--frontend-api", frontendAPI, "--state", state, "--insecure-cookies",
        ]
        let key = Data((0..<32).map { UInt8($0) }).base64EncodedString()
        process.environment = ProcessInfo.processInfo.environment.merging(["SIGN_IN_KEY": key]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        id = process.processIdentifier
        url = try #require(await Self.address(output.fileHandleForReading))
    }

    /// The address in the line that tells it; nil if the program ends before.
    private static func address(_ output: FileHandle) async -> String? {
        let (stream, chunks) = AsyncStream.makeStream(of: Data.self)
        output.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty { chunks.finish() } else { chunks.yield(data) }
        }
        defer { output.readabilityHandler = nil }
        var text = ""
        for await data in stream {
            text += String(decoding: data, as: UTF8.self)
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("listening on ") }),
                text.hasSuffix("\n")
            else { continue }
            return String(line.dropFirst("listening on ".count))
        }
        return nil
    }

    /// Ends it at once, whatever it is doing.
    func kill() {
        _ = Foundation.kill(id, SIGKILL)
    }

    deinit { kill() }
}
