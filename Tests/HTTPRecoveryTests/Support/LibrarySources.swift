import Foundation
import Testing

/// The sources of the library's modules, for tests of what stands where.
enum LibrarySources {
    /// All of them without their comments, by their path below `Sources`.
    static func all() throws -> [(path: String, text: String)] { try once.get() }

    /// Read once, for all who look.
    private static let once = Result { try read() }

    private static func read() throws -> [(path: String, text: String)] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        var result: [(path: String, text: String)] = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let path = String(file.path.dropFirst(root.path.count + 1))
            guard !path.contains("Testing/") else { continue }
            let code = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            .map { line in line.drop { $0 == " " }.hasPrefix("//") ? "" : line }
            result.append((path, code.joined(separator: "\n")))
        }
        try #require(result.count > 300, "the sources are there")
        return result
    }
}
