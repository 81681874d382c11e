import Glibc
import HTTPRecovery
import HTTPTypes
import Testing

@testable import CurlTransport

extension HeadReception {
    /// Takes the bytes line by line, as libcurl hands them over.
    mutating func take(_ bytes: [UInt8], _ known: inout KnownLines) -> HTTPResponse? {
        for line in bytes.split(after: 0x0a) {
            // Nothing of the line is kept but by copying it.
            let step = unsafe Array(line).withUnsafeBufferPointer { unsafe take($0, upTo: .max, &known) }
            if step == .complete { return takeResponse() }
            if step == .refused { return nil }
        }
        return nil
    }

    static func read(_ text: String) -> HTTPResponse? {
        var (reception, known) = (HeadReception(), KnownLines())
        return reception.take(Array(text.utf8), &known)
    }
}

extension [UInt8] {
    /// The parts that end with the element, and what is left.
    fileprivate func split(after end: UInt8) -> [ArraySlice<UInt8>] {
        var (parts, rest): ([ArraySlice<UInt8>], ArraySlice<UInt8>) = ([], self[...])
        while !rest.isEmpty {
            let count = (rest.firstIndex(of: end).map { $0 + 1 } ?? rest.endIndex) - rest.startIndex
            parts.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return parts
    }
}

/// Heads that no server should send end in a value, and never in a trap.
struct ResponseHeadTests {
    @Test(arguments: [
        "", "\r\n", "HTTP/1.1", "HTTP/1.1 \r\n", "HTTP/1.1 9\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 -12\r\n\r\n",
        "HTTP/1.1 099\r\n\r\n", "SSH-2.0\r\n\r\n",
    ])
    func isNoHead(text: String) {
        #expect(HeadReception.read(text) == nil)
    }

    /// Whoever takes another length than the server did reads a response where there is none.
    @Test(arguments: [
        (["5"], true), (["5", "5"], true), (["5, 5"], true), (["\t5 ", "05"], true), (["9223372036854775807"], true),
        (["5", "2"], false), (["5, 2"], false), (["5,"], false), ([""], false), (["-1"], false), (["+5"], false),
        (["5x"], false), (["5", "x", "5"], false), (["9223372036854775808"], false),
        ([String(repeating: "9", count: 40)], false),
    ])
    func aLengthIsOne(values: [String], isOne: Bool) {
        let fields = values.map { "Content-Length: \($0)\r\n" }.joined()
        #expect((HeadReception.read("HTTP/1.1 200\r\n\(fields)\r\n") != nil) == isOne)
        let interim = "HTTP/1.1 103\r\n\(fields)\r\nHTTP/1.1 200\r\ncontent-length: 7\r\n\r\n"
        #expect(HeadReception.read(interim) != nil, "of another response")
        for coded in ["\(fields)Transfer-Encoding: chunked\r\n", "transfer-encoding: chunked\r\n\(fields)"] {
            #expect(HeadReception.read("HTTP/1.1 200\r\n\(coded)\r\n") != nil, "chunks say it")
        }
        #expect(HeadReception.read("HTTP/2 200\r\n\(fields)\r\n") != nil, "frames say it")
    }

    @Test
    func oddFieldsAreLeftOut() throws {
        let text = "HTTP/2 200\nA: 1\n: x\nno colon\nB b: 2\n\u{e9}: 3\n  folded\nC:\t4 \nD: \u{1}\u{7f}\n\nE: 5\n"
        let head = try #require(HeadReception.read(text))
        #expect(head.status.code == 200)
        #expect(head.headerFields.map(\.name.rawName) == ["A", "C", "D"])
        #expect(head.headerFields.map(\.value).prefix(2) == ["1", "4"])
    }

    @Test
    func bytesAtRandomDoNotTrap() {
        let random = Runtime.RandomSource(seed: 7)
        var known = KnownLines()
        for _ in 0..<5000 {
            var bytes = Array("HTTP/1.1 200 OK\r\nA: b\r\nSet-Cookie: c\r\n d\r\n\r\n".utf8)
            for _ in 0..<(random.bits() % 8) {
                bytes[Int(random.bits() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.bits())
            }
            var reception = HeadReception()
            _ = reception.take(Array(bytes.prefix(Int(random.bits() % UInt64(bytes.count + 1)))), &known)
        }
    }
}

/// A server that folds its header lines costs no more than one that does not.
struct FoldedHeaderTests {
    @Test
    func foldedLinesAreJoined() throws {
        let text = "HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\n\t3 \r\n \r\n 4\r\nB: 5\r\n\r\n"
        let head = try #require(HeadReception.read(text))
        #expect(head.headerFields.map(\.name.rawName) == ["A", "B"])
        #expect(head.headerFields.map(\.value) == ["1 2 3  4", "5"])
    }

    @Test
    func theTimeGrowsWithTheLengthAlone() throws {
        let short = try Self.cost(lines: 2_000)
        let long = try Self.cost(lines: 32_000)
        // Sixteen times the work; if each line were joined anew it would be 256 times.
        #expect(long < short * 64, "\(long / short)")
    }

    /// The CPU time of this thread alone, which does not count what other threads and programs do.
    private static func cost(lines: Int) throws -> Duration {
        let text = "HTTP/1.1 200 OK\r\nA: 1\r\n" + String(repeating: " ab\r\n", count: lines) + "\r\n"
        let start = threadTime()
        let head = try #require(HeadReception.read(text))
        let end = threadTime()
        #expect(head.headerFields.map(\.value.utf8.count) == [1 + 3 * lines])
        return end - start
    }

    private static func threadTime() -> Duration {
        // Read as two words: which C module owns the fields of `timespec` differs from build to build.
        var time = (seconds: 0, nanoseconds: 0)
        unsafe withUnsafeMutablePointer(to: &time) { words in
            unsafe words.withMemoryRebound(to: timespec.self, capacity: 1) { time in
                _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, time)
            }
        }
        return .seconds(time.seconds) + .nanoseconds(time.nanoseconds)
    }
}

/// A line that has come before is not read again, and is what it was.
struct KnownLinesTests {
    private static func head(_ fields: String...) -> [UInt8] {
        Array((["HTTP/1.1 200 OK"] + fields + ["", ""]).joined(separator: "\r\n").utf8)
    }

    private static func read(_ bytes: [UInt8], _ known: inout KnownLines) throws -> HTTPResponse {
        var reception = HeadReception()
        return try #require(reception.take(bytes, &known))
    }

    @Test
    func whatIsKnownIsReadAsBefore() throws {
        var known = KnownLines()
        let random = Runtime.RandomSource(seed: 11)
        for _ in 0..<300 {
            // Lines that differ in little share places, and take them from each other.
            let fields = (0..<Int(random.bits() % 8)).map { _ in
                let name = ["Server", "server", "Content-Type", "Date", "X-Own", "Via", "Set-Cookie"][
                    Int(random.bits() % 7)
                ]
                return "\(name): value \(random.bits() % 40) \(random.bits() % 3)"
            }
            let status = ["HTTP/1.1 200 OK", "HTTP/1.1 201 OK", "HTTP/1.1 200 ok", "HTTP/2 200 "][
                Int(random.bits() % 4)
            ]
            let head = try Self.read(Array(([status] + fields + ["", ""]).joined(separator: "\r\n").utf8), &known)
            #expect(head.headerFields.map { "\($0.name.rawName): \($0.value)" } == fields)
            #expect("\(head.status)" == status.split(separator: " ", maxSplits: 1)[1] + "")
        }
    }

    @Test
    func whatOneChangesInItsResponseIsItsOwn() throws {
        var known = KnownLines()
        let bytes = Self.head("Server: s", "Content-Type: text/plain")
        var first = try Self.read(bytes, &known)
        first.status = 500
        first.headerFields[.server] = "other"
        let second = try Self.read(bytes, &known)
        #expect(second.status.code == 200)
        #expect(second.headerFields[.server] == "s")
    }

    @Test
    func secretsAreNotKept() throws {
        var known = KnownLines()
        let secrets = [
            "Set-Cookie: s=hunter2", "Authorization: hunter2", "Location: /?code=hunter2", "X-Token: hunter2",
        ]
        for secret in secrets { _ = try Self.read(Self.head("Server: visible", secret), &known) }
        _ = try Self.read(Array("HTTP/1.1 401 hunter2 has expired\r\n\r\n".utf8), &known)
        var text = ""
        dump(known, to: &text)
        // A line that is kept is kept with its field, whose value is dumped as text.
        #expect(text.contains("visible") && !text.contains("hunter2"))
    }

    @Test
    func fieldsAfterTheBodyAreApart() throws {
        var (known, reception) = (KnownLines(), HeadReception())
        let head = try #require(reception.take(Self.head("Server: s"), &known))
        #expect(reception.takeTrailers() == nil)
        #expect(reception.take(Array("Server: t\r\nX-Sum: 1\r\n 2\r\n\r\n".utf8), &known) == nil)
        #expect(head.headerFields.count == 1)
        #expect(reception.takeTrailers()?.map { "\($0.name)=\($0.value)" } == ["Server=t", "X-Sum=1 2"])
    }

    /// As libcurl 7.88 hands over what it has kept behind a pause.
    @Test
    func fieldsAfterTheBodyMayComeInOnePiece() throws {
        var (known, reception) = (KnownLines(), HeadReception())
        _ = try #require(reception.take(Self.head("Server: s"), &known))
        let piece = Array("Expires: 0\r\nX-Sum: abc\r\n def\r\nX-Two: 2\r\n".utf8)
        // Nothing of the piece is kept but by copying it.
        #expect(unsafe piece.withUnsafeBufferPointer { unsafe reception.take($0, upTo: .max, &known) } == .more)
        let fields = reception.takeTrailers()?.map { "\($0.name)=\($0.value)" }
        #expect(fields == ["Expires=0", "X-Sum=abc def", "X-Two=2"])
    }

    @Test
    func anInterimResponseIsForgotten() throws {
        var (known, reception) = (KnownLines(), HeadReception())
        let text =
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n folded\r\n\r\nHTTP/1.1 204 No Content\r\nServer: s\r\n\r\n"
        let head = try #require(reception.take(Array(text.utf8), &known))
        #expect(head.status.code == 204)
        #expect(head.headerFields.map(\.value) == ["s"])
    }

    @Test
    func moreFieldsThanTheTypeHoldsAreTooMany() {
        var (known, reception) = (KnownLines(), HeadReception())
        let text = "HTTP/1.1 200 OK\r\n" + String(repeating: "a:b\r\n", count: 66_000) + "\r\n"
        #expect(reception.take(Array(text.utf8), &known) == nil)
        #expect(reception.isTooLarge)
    }

    @Test
    func soTheyAreBehindABodyInOnePiece() throws {
        var (known, reception) = (KnownLines(), HeadReception())
        _ = try #require(reception.take(Self.head("Server: s"), &known))
        let piece = Array(String(repeating: "a:b\r\n", count: 66_000).utf8)
        // Nothing of the piece is kept but by copying it.
        #expect(unsafe piece.withUnsafeBufferPointer { unsafe reception.take($0, upTo: .max, &known) } == .refused)
        #expect(reception.isTooLarge)
    }
}
