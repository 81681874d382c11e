import Foundation
import Testing

/// Every block of Swift in the documentation, pages and comments alike, stands in a file that is compiled, but for whitespace.
///
/// Blocks of pages that belong to a manifest (a whole one, the line of a dependency, or a target) are read by Scripts/linkage.
@Suite struct EveryBlockIsCompiled {
    private struct Block {
        /// The file and the line at which it begins.
        let place: String
        var lines: [Substring] = []

        /// What has to be compiled: all of it behind the imports, which a file has once.
        var code: String {
            let rest = lines.drop { line in
                line.allSatisfy(\.isWhitespace) || line.hasPrefix("import ") || line.hasPrefix("@testable import ")
            }
            return EveryBlockIsCompiled.withoutWhitespace((rest.isEmpty ? lines[...] : rest).joined(separator: "\n"))
        }

        var isOfManifest: Bool {
            let first = lines.first ?? ""
            return place.contains(".md:")
                && ["// swift-tools-version", ".package(", ".target("].contains { first.hasPrefix($0) }
        }
    }

    private static let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    private static func withoutWhitespace(_ text: String) -> String {
        String(decoding: Array(text.utf8).filter { $0 > 0x20 }, as: UTF8.self)
    }

    /// Megabytes are looked through for hundreds of texts: only the system's function does that in no time.
    private static func holds(_ text: String, _ part: String) -> Bool { unsafe strstr(text, part) != nil }

    /// The text files below the directories with that ending; what is hidden is none of ours.
    private static func files(below directories: String..., ending: String) throws -> [(path: String, text: String)] {
        try directories.flatMap { directory in
            let found = FileManager.default.enumerator(
                at: root.appending(path: directory),
                includingPropertiesForKeys: nil,
                options: .skipsHiddenFiles
            )
            return try #require(found).compactMap { $0 as? URL }.filter { $0.pathExtension == ending }.map { file in
                (String(file.path.dropFirst(root.path.count + 1)), try String(contentsOf: file, encoding: .utf8))
            }
        }
    }

    /// The blocks of a page; of a source, those of its comments.
    private static func blocks(of path: String, _ text: String) -> [Block] {
        // Most sources have none.
        guard holds(text, "```swift") else { return [] }
        var blocks: [Block] = []
        var isInside = false
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            var line = line.drop { $0 == " " }
            if path.hasSuffix(".swift") {
                guard line.hasPrefix("///") else { continue }
                line = line.dropFirst(3).drop { $0 == " " }
            }
            if line.hasPrefix("```") {
                isInside = !isInside && line == "```swift"
                if isInside { blocks.append(Block(place: "\(path):\(number + 2)")) }
            } else if isInside {
                blocks[blocks.count - 1].lines.append(line)
            }
        }
        return blocks
    }

    /// Every page, and every source for its comments.
    private static func documents() throws -> [(path: String, text: String)] {
        let pages = try files(below: "Sources", "Examples", "Benchmarks", ending: "md")
        let own = try ["README.md", "CONTRIBUTING.md", "SECURITY.md"].map { name in
            (path: name, text: try String(contentsOf: root.appending(path: name), encoding: .utf8))
        }
        return try own + pages + files(below: "Sources", ending: "swift")
    }

    /// The lines of Swift in blocks that are indented rather than fenced, each with its place.
    private static func indentedSwift(of path: String, _ text: String) -> [String] {
        let isSource = path.hasSuffix(".swift")
        guard !isSource || holds(text, "///     ") else { return [] }
        var found: [String] = []
        // A block begins behind an empty line; what is indented in a list belongs to its item.
        var (isFenced, isInList, isPossible) = (false, false, true)
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var line = line
            if isSource {
                let comment = line.drop { $0 == " " }
                line = comment.hasPrefix("///") ? comment.dropFirst(3) : ""
                if line.hasPrefix(" ") { line = line.dropFirst() }
            }
            let words = line.drop { $0 == " " }
            if words.hasPrefix("```") { isFenced.toggle() }
            if isFenced || words.isEmpty {
                isPossible = !isFenced
            } else if line.hasPrefix("    "), isPossible, !isInList {
                if isSwift(words) { found.append("\(path):\(number + 1): \(words)") }
            } else {
                isPossible = false
                let isItem = words.firstMatch(of: #/^([-*]|\d+\.) /#) != nil
                if isItem || !line.hasPrefix(" ") { isInList = isItem }
            }
        }
        return found
    }

    private static let swiftWords: Set<Substring> = [
        "actor", "await", "enum", "extension", "final", "func", "import", "let", "protocol", "public", "struct", "try",
        "var",
    ]

    /// Whether a line can be nothing but Swift.
    private static func isSwift(_ line: Substring) -> Bool {
        swiftWords.contains(line.prefix { $0 != " " })
            || [".package(", ".product(", ".target(", "@", "#expect"].contains { line.hasPrefix($0) }
    }

    @Test func whatIsSwiftIsFenced() throws {
        let found = try Self.documents().flatMap { Self.indentedSwift(of: $0.path, $0.text) }
        #expect(found.isEmpty, "as indented blocks they are seen by nothing")
        let page = "Text:\n\n    let a = 1\n\n- an item\n\n    let b = 1\n\nText\n\n    .package(url: x)\n    run it\n"
        #expect(Self.indentedSwift(of: "a.md", page) == ["a.md:3: let a = 1", "a.md:11: .package(url: x)"])
        let comment = "/// Text:\n///\n///     let a = 1\nlet c = 1\n    let d = 1\n"
        #expect(Self.indentedSwift(of: "a.swift", comment) == ["a.swift:3: let a = 1"])
    }

    @Test func everyBlockIsCompiled() throws {
        let blocks = try Self.documents().flatMap { Self.blocks(of: $0.path, $0.text) }
        try #require(blocks.count > 200, "the documentation is there")

        let compiled = try Self.files(
            below: "Tests",
            "Examples/Sources",
            "Examples/Tests",
            "Examples/WebBackend",
            ending: "swift"
        )
        // One text, with what no code holds between the files.
        let all = compiled.map { Self.withoutWhitespace($0.text) }.joined(separator: " ")
        for block in blocks where !block.isOfManifest {
            let code = block.code
            #expect(!code.isEmpty, "\(block.place) is empty")
            let isCompiled = Self.holds(all, code)
            #expect(isCompiled, "\(block.place) is compiled nowhere: \(block.lines.first ?? "")")
        }
    }
}
