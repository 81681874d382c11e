import HTTPRecovery

/// What stands in a cassette for a text that is not kept: `redacted`, or a name by which it is told from others.
///
/// `redacted-1` stands for a text of an answer, `redacted-id-1` for an identifier of a request. A player calls an identifier
/// that it is asked for `redacted-new-1` until it knows which of the recorded ones it is.
enum StandIn {
    static let mark = "redacted"

    /// Whose text it is.
    enum Origin: String, CaseIterable {
        case answer = ""
        case recorded = "id-"
        case asked = "new-"
    }

    static func name(_ origin: Origin, _ number: Int) -> String { "\(mark)-\(origin.rawValue)\(number)" }

    /// Whether all of a text is a name.
    static func isName(_ text: some StringProtocol) -> Bool {
        let length = length(at: Array(text.utf8)[...])
        return length == text.utf8.count && length > mark.utf8.count
    }

    /// How many bytes at the beginning are a stand-in's.
    private static func length(at bytes: ArraySlice<UInt8>) -> Int {
        guard bytes.starts(with: mark.utf8) else { return 0 }
        for origin in Origin.allCases {
            let start = "\(mark)-\(origin.rawValue)"
            guard bytes.starts(with: start.utf8) else { continue }
            let digits = bytes.dropFirst(start.utf8.count).prefix(9).prefix(while: \.isDigit)
            if !digits.isEmpty { return start.utf8.count + digits.count }
        }
        return mark.utf8.count
    }

    /// The stand-ins of a text, and what is around them; one part more of the latter.
    fileprivate static func parts(of text: some StringProtocol) -> (literal: [ArraySlice<UInt8>], names: [String]) {
        let bytes = Array(text.utf8)
        var (literal, names): ([ArraySlice<UInt8>], [String]) = ([], [])
        var (start, index) = (0, 0)
        while index < bytes.count {
            let length = length(at: bytes[index...])
            guard length > 0 else {
                index += 1
                continue
            }
            literal.append(bytes[start..<index])
            names.append(String(decoding: bytes[index..<(index + length)], as: UTF8.self))
            index += length
            start = index
        }
        literal.append(bytes[start...])
        return (literal, names)
    }

    /// Which of a cassette's stand-ins are those of what is asked: each is one, and no two are the same.
    struct Bindings {
        private var recorded: [String: String] = [:]
        private var asked: [String: String] = [:]

        /// Whether a stand-in may be the other, as far as is known; then it is known.
        fileprivate mutating func bind(_ one: String, to other: String) -> Bool {
            // What has no name may be all.
            if one == other || one == mark || other == mark { return true }
            guard one.utf8.starts(with: name(.asked, 0).utf8.dropLast()) else { return false }
            if recorded[one] == nil, asked[other] == nil { (recorded[one], asked[other]) = (other, one) }
            return recorded[one] == other && asked[other] == one
        }

        /// Whether a text with stand-ins is that of the cassette.
        mutating func fits(_ recorded: some StringProtocol, _ asked: some StringProtocol) -> Bool {
            let (mine, theirs) = (StandIn.parts(of: recorded), StandIn.parts(of: asked))
            guard mine.literal.count == theirs.literal.count, zip(mine.literal, theirs.literal).allSatisfy({ $0 == $1 })
            else { return false }
            for (one, other) in zip(theirs.names, mine.names) where !bind(one, to: other) { return false }
            return true
        }

        /// Whether a path's segment is that of the cassette, and whether it is for sure.
        ///
        /// An identifier that the answer had not as a text, such as a number, is asked for as it reads; what stands for a text
        /// of an answer may have been kept in a path.
        mutating func fits(segment recorded: Substring, _ asked: Substring) -> (fits: Bool, isSure: Bool) {
            if recorded == asked { return (true, true) }
            let isRecordedText = !StandIn.isName(recorded) && recorded != mark
            let isAskedText = !StandIn.isName(asked) && asked != mark
            switch (isRecordedText, isAskedText) {
            case (true, true): return (false, true)
            case (true, false): return (true, false)
            case (false, true):
                let isIdentifier = recorded == mark || recorded.utf8.starts(with: name(.recorded, 0).utf8.dropLast())
                return (isIdentifier, false)
            case (false, false): return (bind(String(asked), to: String(recorded)), true)
            }
        }
    }
}

extension String {
    /// The text with something else in each place where a part stands, byte by byte.
    ///
    /// - Parameter isWord: Whether it has to stand by itself, and not within a longer word.
    func replacing(bytesOf part: String, with other: String, asWord isWord: Bool = false) -> String {
        let (bytes, wanted) = (Array(utf8), Array(part.utf8))
        guard !wanted.isEmpty else { return self }
        var (result, index): ([UInt8], Int) = ([], 0)
        while index < bytes.count {
            let end = index + wanted.count
            let isAlone =
                !isWord
                || (index == 0 || !bytes[index - 1].isAlphanumeric)
                    && (end >= bytes.count || !bytes[end].isAlphanumeric)
            if isAlone, bytes[index...].starts(with: wanted) {
                result += other.utf8
                index = end
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
