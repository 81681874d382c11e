import Foundation

/// A directory that goes with its last owner.
public final class TemporaryDirectory: Sendable {
    /// Where it is.
    public let path: String

    /// Makes one, which only its owner can read.
    public init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "service-\(UUID().uuidString.prefix(8))"
        )
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
