import HTTPRecovery
import HTTPTypes

/// Reads what curl prints: the blocks of requests and responses, of which the last response counts.
struct TranscriptReader {
    var method: HTTPRequest.Method?
    var path: String?
    var status: Int?
    var fields = HTTPFields()
    var body: [UInt8] = []
    /// Whether the request had an `Authorization` field.
    var presentsCredential = false

    private enum Place {
        case outside
        case request
        case response
    }

    private var place = Place.outside

    /// More header fields than any server sends.
    private static let mostFields = 1000

    mutating func read(_ text: [UInt8]) throws(PastedExchange.Unreadable) {
        var rest = text[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            let line = rest[..<(end ?? rest.endIndex)]
            if try take(String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)) {
                rest = end.map { rest[($0 + 1)...] } ?? []
            } else {
                // The body of an answer that another one follows, as of a redirect, is of no interest.
                guard let next = Self.nextHead(in: rest) else {
                    body = Self.withoutTalk(rest)
                    return
                }
                rest = rest[next...]
                place = .outside
            }
        }
    }

    /// Takes a line of a head; false if the body begins with it.
    private mutating func take(_ line: String) throws(PastedExchange.Unreadable) -> Bool {
        if Self.isTalk(line) { return true }
        let content = Self.content(of: line)
        if let (method, path) = Self.requestLine(content) {
            (self.method, self.path, presentsCredential, place) = (method, path, false, .request)
            return true
        }
        if let status = Self.statusLine(content) {
            (self.status, fields, place) = (status, [:], .response)
            return true
        }
        switch place {
        case .outside where Self.isField(content) && status == nil && method == nil:
            // The header alone, as a browser copies it.
            place = .response
            return try take(line)
        case .outside:
            return content.isEmpty
        case .request:
            if content.isEmpty { place = .outside }
            if content.lowercased().hasPrefix("authorization:") { presentsCredential = true }
            return true
        case .response:
            guard !content.isEmpty else {
                place = .outside
                return true
            }
            guard let colon = content.firstIndex(of: ":"), let name = HTTPField.Name(String(content[..<colon])) else {
                return false
            }
            let value = content[content.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            guard fields.count < Self.mostFields else {
                throw PastedExchange.Unreadable(
                    "there are more than \(Self.mostFields) header fields: is that one response?"
                )
            }
            fields.append(HTTPField(name: name, value: String(value)))
            return true
        }
    }

    /// Whether it looks like a header field: a name, a colon, a blank.
    private static func isField(_ line: Substring) -> Bool {
        guard let colon = line.firstIndex(of: ":"), line[colon...].hasPrefix(": ") else { return false }
        return line[..<colon].contains("-")
            || ["date", "server", "etag", "vary", "via"].contains(line[..<colon].lowercased())
    }

    /// Whether it is what `curl -v` says about the connection.
    private static func isTalk(_ line: some StringProtocol) -> Bool {
        line.hasPrefix("* ") || line.hasPrefix("{ [") || line.hasPrefix("} [")
    }

    /// The line without the mark that `curl -v` puts before it.
    private static func content(of line: String) -> Substring {
        if line == ">" || line == "<" { return "" }
        return line.hasPrefix("> ") || line.hasPrefix("< ") ? line.dropFirst(2) : line[...]
    }

    private static func requestLine(_ line: Substring) -> (HTTPRequest.Method, String)? {
        let words = line.split(separator: " ")
        guard words.count >= 2, words.count <= 3, words.count == 2 || words[2].hasPrefix("HTTP/"),
            words[0].allSatisfy({ $0.isASCII && $0.isUppercase }), words[1].hasPrefix("/"),
            let method = HTTPRequest.Method(String(words[0]))
        else { return nil }
        return (method, String(words[1]))
    }

    private static func statusLine(_ line: Substring) -> Int? {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]), (100...999).contains(status)
        else { return nil }
        return status
    }

    /// Where a further response begins, behind the first line.
    private static func nextHead(in bytes: ArraySlice<UInt8>) -> Int? {
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            rest = rest[(end + 1)...]
            let line = rest.prefix(4096).prefix { $0 != 0x0A && $0 != 0x0D }
            let text = String(decoding: line, as: UTF8.self)
            if statusLine(content(of: text)) != nil { return rest.startIndex }
            // Without its mark a request's line could be anything.
            if text.hasPrefix("> "), requestLine(text.dropFirst(2)) != nil { return rest.startIndex }
        }
        return nil
    }

    /// The body without what `curl -v` says behind it.
    private static func withoutTalk(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        while let last = lines.last, last.isEmpty || isTalk(String(decoding: last.prefix(8), as: UTF8.self)) {
            lines.removeLast()
        }
        return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }
}
