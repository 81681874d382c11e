import CommandLineSupport
import HTTPRecovery
import HTTPTypes

/// What the options make of a request's body and query.
struct RequestContent: Sendable {
    /// The body; nil for none.
    private(set) var body: MessageBody?
    /// What it is; nil if nothing is to be said.
    private(set) var contentType: String?
    /// What is wanted in return; nil for anything.
    private(set) var accept: String?
    /// What the URL's query gets; empty for nothing.
    private(set) var query = ""
    /// The method, unless the person names another.
    private(set) var method = HTTPRequest.Method.get
    /// The last part of the path of a URL that names a directory; nil for none.
    private(set) var fileName: String?

    /// The most bytes that a query may have.
    private static let longestQuery = 1 << 20

    /// Puts the content together.
    ///
    /// - Throws: ``InvalidOption`` for options that contradict each other; ``FileError`` for a file that cannot be read.
    init(_ options: BodyOptions, _ words: CommandWords) throws {
        let data = words.values(of: BodyOptions.dataNames)
        let form = words.values(of: BodyOptions.formNames)
        let kinds = [
            ("-d", !data.isEmpty), ("-F", !form.isEmpty), ("-T", options.uploadFile != nil),
        ].filter { $0.1 }
        guard kinds.count <= 1 else {
            throw InvalidOption("\(kinds[0].0) and \(kinds[1].0) contradict each other: a request has one body")
        }
        if options.get, !form.isEmpty || options.uploadFile != nil {
            throw InvalidOption("-G puts the data of -d into the query; \(kinds[0].0) has no place there")
        }
        var queries: [String] = []
        for text in options.urlQuery {
            let isPlain = text.hasPrefix("+")
            let bytes = try isPlain ? Array(text.utf8.dropFirst()) : Self.encoded(text, for: "--url-query")
            queries.append(String(decoding: bytes, as: UTF8.self))
        }
        if options.get {
            let text = String(decoding: try Self.joined(data, forQuery: true), as: UTF8.self)
            if !text.isEmpty { queries.append(text) }
        } else if !data.isEmpty {
            method = .post
            body = try Self.body(data)
            let isJSON = data.contains { $0.name == "--json" }
            contentType = isJSON ? "application/json" : "application/x-www-form-urlencoded"
            if isJSON { accept = "application/json" }
        } else if !form.isEmpty {
            let form = try MultipartForm(form)
            method = .post
            (body, contentType) = (form.body, form.contentType)
        } else if let file = options.uploadFile {
            guard !file.isEmpty else { throw InvalidOption("-T: the name of the file is empty") }
            method = .put
            body = try RequestInput.body(ofFile: file)
            let name = file.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? file
            if file != "-" { fileName = PercentEncoding.encode(name.utf8) }
        }
        query = queries.joined(separator: "&")
        guard query.utf8.count <= Self.longestQuery else { throw InvalidOption("the query is longer than 1 MiB") }
    }

    /// The URL with what the options add to it.
    func url(_ url: String) -> String {
        let end = url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
        let mark = url[..<end].utf8.firstIndex(of: UInt8(ascii: "?"))
        let hasQuery = mark != nil
        var place = String(url[..<(mark ?? end)])
        if let fileName, let scheme = place.firstRange(of: "://") {
            // A path that is not written is that of the root.
            if !place[scheme.upperBound...].utf8.contains(UInt8(ascii: "/")) { place += "/" }
            if place.hasSuffix("/") { place += fileName }
        }
        let bare: String = place + url[(mark ?? end)..<end]
        guard !query.isEmpty else { return bare + url[end...] }
        let ending = bare.utf8.last
        let separator = !hasQuery ? "?" : ending == UInt8(ascii: "?") || ending == UInt8(ascii: "&") ? "" : "&"
        return bare + separator + query + url[end...]
    }

    /// A single file goes out piece by piece; everything else is in memory.
    private static func body(_ data: [(name: String, value: String)]) throws -> MessageBody {
        if data.count == 1, ["--data", "--data-binary", "--json"].contains(data[0].name), data[0].value.hasPrefix("@") {
            return try RequestInput.body(ofFile: String(data[0].value.dropFirst()))
        }
        return MessageBody(try joined(data))
    }

    /// The data one behind the other.
    ///
    /// - Parameter forQuery: Whether it goes into a query, where the line ends of a text file have no place.
    private static func joined(_ data: [(name: String, value: String)], forQuery: Bool = false) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, (name, value)) in data.enumerated() {
            // As curl does it, JSON goes on where something ends.
            if index > 0, name != "--json" { bytes.append(UInt8(ascii: "&")) }
            switch name {
            case "--data-raw": bytes += value.utf8
            case "--data-urlencode": bytes += try encoded(value, for: name)
            case _ where !value.hasPrefix("@"): bytes += value.utf8
            default:
                let content = try RequestInput.bytes(ofFile: String(value.dropFirst()))
                // As curl does it; a binary file is what it is.
                let isText = forQuery && name == "--data"
                bytes += isText ? content.filter { ![0x00, 0x0a, 0x0d].contains($0) } : content
            }
        }
        return bytes
    }

    /// The five forms of `--data-urlencode`.
    private static func encoded(_ text: String, for option: String) throws -> [UInt8] {
        let bytes = text.utf8
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.firstIndex(of: UInt8(ascii: "@")) else {
            return formEncoded(bytes)
        }
        let name = text[..<mark]
        let rest = text[bytes.index(after: mark)...]
        let isFile = bytes[mark] == UInt8(ascii: "@")
        if isFile, rest.isEmpty { throw InvalidOption("\(option): the name of the file behind @ is missing") }
        let content = try isFile ? RequestInput.bytes(ofFile: String(rest)) : Array(rest.utf8)
        let encoded = formEncoded(content)
        return name.isEmpty ? encoded : Array(name.utf8) + [UInt8(ascii: "=")] + encoded
    }

    /// A value as forms have it: percent-encoded, with a plus sign for a blank.
    private static func formEncoded(_ bytes: some Collection<UInt8>) -> [UInt8] {
        Array(
            bytes.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
                .map { PercentEncoding.encode($0) }.joined(separator: "+").utf8
        )
    }
}
