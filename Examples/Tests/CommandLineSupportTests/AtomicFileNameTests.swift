import CommandLineSupport
import Glibc
import HTTPRecovery
import Testing

/// Where a file is written before it is complete.
@Suite struct AtomicFileNameTests {
    @Test func twoThatAreWrittenAtOnceDoNotMix() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/out"
            let (first, second) = (try AtomicFile(path), try AtomicFile(path))
            try first.write(Array("first".utf8)[...])
            try second.write(Array("second, and longer".utf8)[...])
            try first.commit()
            #expect(try await Self.text(of: path) == "first")
            try second.commit()
            #expect(try await Self.text(of: path) == "second, and longer")
        }
    }

    /// Whoever may write in the directory gets nothing by a file or a link that stands where it can be expected.
    @Test func whatStandsUnderTheProcesssOwnNameIsLeftAlone() async throws {
        try await withTemporaryDirectory { directory in
            let expected = "\(directory)/.out.\(getpid()).part"
            let planted = try AtomicFile(expected)
            try planted.write(Array("planted".utf8)[...])
            try planted.commit()
            let file = try AtomicFile("\(directory)/out")
            try file.write(Array("secret".utf8)[...])
            #expect(try await Self.text(of: expected) == "planted")
            try file.commit()
            #expect(try await Self.text(of: expected) == "planted")
            #expect(try await Self.text(of: "\(directory)/out") == "secret")
        }
    }

    private static func text(of path: String) async throws -> String {
        String(decoding: try await MessageBody(file: path).collect(upTo: 1 << 16), as: UTF8.self)
    }
}
