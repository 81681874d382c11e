import CommandLineSupport
import HTTPRecovery

/// A multipart form (RFC 7578) from the parts of `-F` and `--form-string`.
struct MultipartForm: Sendable {
    /// The content type, with the boundary.
    let contentType: String
    /// The form; files are read anew for each attempt.
    let body: MessageBody

    /// The most parts of a form.
    private static let mostParts = 10_000

    /// Reads the parts.
    ///
    /// - Throws: ``InvalidOption`` for what is no part, without its text, which may be a secret; ``FileError``.
    init(_ options: [(name: String, value: String)]) throws {
        guard options.count <= Self.mostParts else { throw InvalidOption("-F: more than \(Self.mostParts) parts") }
        let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
        let boundary = String(repeating: "-", count: 24 + max(0, 16 - digits.count)) + digits
        var pieces: [MessageBody] = []
        for (name, value) in options {
            let part = try FormPart(value, isPlain: name == "--form-string")
            pieces.append(MessageBody("--\(boundary)\r\n\(part.head)\r\n"))
            pieces.append(part.content)
            pieces.append(MessageBody("\r\n"))
        }
        pieces.append(MessageBody("--\(boundary)--\r\n"))
        contentType = "multipart/form-data; boundary=\(boundary)"
        body = Self.joined(pieces)
    }

    /// The bodies one behind the other.
    private static func joined(_ pieces: [MessageBody]) -> MessageBody {
        let memory = pieces.compactMap(\.bytesInMemory)
        if memory.count == pieces.count { return MessageBody(memory.flatMap { $0 }) }
        return MessageBody(length: pieces.reduce(0) { $0 + ($1.length ?? 0) }) { BodySequence(pieces: pieces) }
    }
}

/// Bodies one behind the other.
private struct BodySequence: AsyncSequence, Sendable {
    typealias Element = ArraySlice<UInt8>

    let pieces: [MessageBody]

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<MessageBody>
        var current: MessageBody.AsyncIterator?

        mutating func next() async throws -> ArraySlice<UInt8>? {
            while true {
                if var iterator = current {
                    let chunk = try await iterator.next()
                    current = chunk == nil ? nil : iterator
                    if let chunk { return chunk }
                }
                guard let body = rest.popFirst() else { return nil }
                current = body.makeAsyncIterator()
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: pieces[...]) }
}

/// One part of a form.
private struct FormPart {
    let head: String
    let content: MessageBody

    init(_ text: String, isPlain: Bool) throws {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")), equals > text.startIndex else {
            throw InvalidOption("\(isPlain ? "--form-string" : "-F"): write a part as NAME=TEXT")
        }
        let name = String(text[..<equals])
        var rest = text[text.utf8.index(after: equals)...]
        var head = "Content-Disposition: form-data; name=\"\(Self.escaped(name))\""
        if isPlain {
            (self.head, content) = (head + "\r\n", MessageBody(String(rest)))
            return
        }
        let mark = rest.utf8.first
        let isFile = mark == UInt8(ascii: "@")
        let isRead = mark == UInt8(ascii: "<")
        if mark == UInt8(ascii: "(") || (rest == ")" && name.isEmpty) {
            throw InvalidOption("-F: forms within forms are not kept here; send such a body with --data-binary @FILE")
        }
        if isFile || isRead { rest = rest.dropFirst() }
        let value = try Self.word(&rest, endingAt: isFile ? ",;" : ";")
        if isFile, rest.first == "," {
            throw InvalidOption("-F: several files in one part are not kept here; give each a part of its own")
        }
        let parameters = try Parameters(rest)
        if isFile || isRead, value.isEmpty {
            throw InvalidOption("-F: the name of the file behind \(isFile ? "@" : "<") is missing")
        }
        content = try isFile || isRead ? RequestInput.body(ofFile: value) : MessageBody(value)
        let base = value.split(separator: "/").last.map(String.init) ?? value
        if let file = parameters.fileName ?? (isFile ? base : nil) { head += "; filename=\"\(Self.escaped(file))\"" }
        head += "\r\n"
        // A name that says nothing about the file leaves that to the file's own.
        let named = isRead ? nil : parameters.fileName.flatMap { Self.type(of: $0) }
        let own = isFile ? Self.type(of: value) ?? Self.anyType : nil
        if let type = parameters.type ?? named ?? own {
            head += "Content-Type: \(type)\r\n"
        }
        self.head = head
    }

    /// What stands behind the value.
    private struct Parameters {
        var type: String?
        var fileName: String?

        init(_ text: Substring) throws(InvalidOption) {
            var rest = text
            while rest.first == ";" {
                rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
                if let value = rest.after("type=") {
                    rest = value
                    var type = try FormPart.word(&rest, endingAt: ";")
                    // A type has parameters of its own.
                    while rest.first == ";" {
                        let more = rest.dropFirst()
                        if FormPart.isKnown(more.drop(while: FormPart.isBlank)) { break }
                        let end = more.firstIndex(of: ";") ?? more.endIndex
                        type += ";\(more[..<end])"
                        rest = more[end...]
                    }
                    guard type.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }), type.contains("/") else {
                        throw InvalidOption("-F: ;type= takes a media type, such as text/plain")
                    }
                    self.type = type
                } else if let value = rest.after("filename=") {
                    rest = value
                    fileName = try FormPart.word(&rest, endingAt: ";")
                } else {
                    throw InvalidOption(
                        "-F: behind a part stand ;type= and ;filename=; put a text with a ; in it into quotation marks, or use "
                            + "--form-string"
                    )
                }
            }
        }
    }

    fileprivate static func isKnown(_ text: Substring) -> Bool {
        ["type=", "filename=", "headers=", "encoder="].contains { text.hasPrefix($0) }
    }

    /// The text up to one of the ends; in quotation marks these stand for themselves.
    fileprivate static func word(_ rest: inout Substring, endingAt ends: String) throws(InvalidOption) -> String {
        var bytes: [UInt8] = []
        rest = rest.drop(while: Self.isBlank)
        var text = rest.utf8
        guard text.first == UInt8(ascii: "\"") else {
            let end = text.firstIndex { ends.utf8.contains($0) } ?? text.endIndex
            var word = rest[..<end]
            rest = rest[end...]
            while let last = word.last, isBlank(last) { word.removeLast() }
            return String(word)
        }
        text.removeFirst()
        while let byte = text.popFirst() {
            if byte == UInt8(ascii: "\"") {
                rest = Substring(text).drop { $0 == " " || $0 == "\t" }
                guard rest.isEmpty || ends.contains(rest.first ?? ";") else { break }
                return String(decoding: bytes, as: UTF8.self)
            }
            let isEscape =
                byte == UInt8(ascii: "\\") && (text.first == UInt8(ascii: "\\") || text.first == UInt8(ascii: "\""))
            if isEscape, let escaped = text.popFirst() { bytes.append(escaped) } else { bytes.append(byte) }
        }
        throw InvalidOption("-F: a quotation mark is not closed, or something stands behind it")
    }

    /// What stands around a word without being a part of it.
    fileprivate static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    /// A name within quotation marks, as browsers write it.
    private static func escaped(_ name: String) -> String {
        name.replacing("\"", with: "%22").replacing("\r\n", with: "%0D%0A").replacing("\r", with: "%0D")
            .replacing("\n", with: "%0A")
    }

    /// What a file is of which nothing is known.
    private static let anyType = "application/octet-stream"

    /// What a file is, by its name; nil for one that says nothing about it.
    private static func type(of file: String) -> String? {
        let types = [
            ".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png",
            ".svg": "image/svg+xml", ".txt": "text/plain", ".htm": "text/html", ".html": "text/html",
            ".pdf": "application/pdf", ".xml": "application/xml",
        ]
        let name = file.lowercased()
        return types.first { name.hasSuffix($0.key) }?.value
    }
}

extension Substring {
    /// What stands behind a beginning; nil if the text begins otherwise.
    fileprivate func after(_ beginning: String) -> Substring? {
        hasPrefix(beginning) ? self[utf8.index(startIndex, offsetBy: beginning.utf8.count)...] : nil
    }
}
