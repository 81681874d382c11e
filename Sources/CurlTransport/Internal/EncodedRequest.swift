import HTTPRecovery
import HTTPTypes

/// A request in the form libcurl takes it: checked on the caller's thread, so that the loop only copies pointers.
struct EncodedRequest: Sendable {
    /// How the body goes out.
    enum Body: Sendable {
        /// None, and nothing said about it.
        case none
        /// Bytes in memory, perhaps zero, with Content-Length.
        case bytes(ArraySlice<UInt8>)
        /// A stream; chunked if the length is not known.
        case stream(MessageBody, length: Int?)
    }

    /// What shares connections and a queue.
    struct Origin: Sendable, Hashable {
        let isTLS: Bool
        /// Host and port, in lower case, without a port that is the scheme's own.
        let authority: String
    }

    let method: String
    let origin: Origin
    /// The URL and the header lines, each ended by a zero byte.
    var text: [UInt8]
    /// Where the header lines begin, and how many there are.
    let headers: (start: Int, count: Int)
    /// Where the path begins, if libcurl may change it: newer versions drop an empty query (8.14), and write percent-encoded
    /// bytes in upper case (8.21).
    let changeablePath: Int?
    let body: Body
    /// Whether the transport asks for a content coding and undoes it.
    let decodes: Bool

    init(_ request: HTTPRequest, body: MessageBody?, decompresses: Bool) throws(TransportError) {
        let given = request.scheme ?? ""
        let scheme = given == "https" || given == "http" ? given : given.lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw .invalid("the scheme is neither http nor https")
        }
        let authority = request.authority ?? ""
        if let defect = Authority.defect(of: authority) { throw .invalid(defect) }
        var url: [UInt8] = []
        url.reserveCapacity(512)
        url.append(contentsOf: scheme.utf8)
        url.append(contentsOf: "://".utf8)
        url.append(contentsOf: authority.utf8)
        let path = url.count
        if let target = request.path, !target.isEmpty {
            url.append(contentsOf: target.utf8)
            guard url[path] == UInt8(ascii: "/") else { throw .invalid("the path does not begin with a slash") }
        } else {
            url.append(UInt8(ascii: "/"))
        }
        // A fragment is not the server's (RFC 9110, section 7.1).
        if let fragment = url[path...].firstIndex(of: UInt8(ascii: "#")) { url.removeSubrange(fragment...) }
        var isChangeable = url.last == UInt8(ascii: "?")
        for byte in url[path...] {
            guard byte > 0x20, byte < 0x7f else {
                throw .invalid("the path holds a character that must be percent-encoded")
            }
            if byte == UInt8(ascii: "%") { isChangeable = true }
        }
        url.append(0)
        guard request.method != .connect else { throw .invalid("CONNECT is not supported") }

        let start = url.count
        var lines = HeaderLines(after: consume url)
        var declaredLength: Int?
        var names: (accept: Bool, contentType: Bool, coding: Bool) = (false, false, false)
        var cookies: [HTTPField] = []
        for field in request.headerFields {
            switch field.name {
            // The authority is the host, and the body knows its framing.
            case Self.host, .transferEncoding, .expect: continue
            case .contentLength:
                declaredLength = Int(field.value)
                continue
            // The type of a message parts them; there is one field for all (RFC 6265 section 5.4).
            case .cookie:
                cookies.append(field)
                continue
            case .accept: names.accept = true
            case .contentType: names.contentType = true
            case .acceptEncoding, .range: names.coding = true
            default: break
            }
            try lines.append(field)
        }
        if cookies.count > 1 {
            try lines.append(HTTPField(name: .cookie, value: cookies.map(\.value).joined(separator: "; ")))
        } else if let cookie = cookies.first {
            try lines.append(cookie)
        }
        let plan = try Self.plan(body, method: request.method, declaredLength: declaredLength)
        // What libcurl would add by itself; a line that ends in a colon removes it.
        if !names.accept { lines.remove("Accept") }
        if case .none = plan {
        } else {
            if !names.contentType { lines.remove("Content-Type") }
            lines.remove("Expect")
        }
        let decodes = decompresses && !names.coding
        // libcurl would ask for the same, and make the line anew for each request.
        if decodes { lines.append("Accept-Encoding: ", Libcurl.contentCodings) }
        self.method = request.method.rawValue
        let origin = HTTPRecovery.Origin(scheme: scheme, authority: authority)
        self.origin = Origin(isTLS: scheme == "https", authority: origin.authority)
        self.body = plan
        self.decodes = decodes
        self.headers = (start, lines.count)
        self.text = lines.bytes
        self.changeablePath = isChangeable ? path : nil
    }

    /// The bytes of the body that are in memory.
    var bytesInMemory: ArraySlice<UInt8>? {
        if case .bytes(let bytes) = body { bytes } else { nil }
    }

    private static let host = HTTPField.Name("host")

    var isTLS: Bool { origin.isTLS }

    var sendsBody: Bool {
        switch body {
        case .none: false
        case .bytes(let bytes): !bytes.isEmpty
        case .stream: true
        }
    }

    private static func plan(
        _ body: MessageBody?,
        method: HTTPRequest.Method,
        declaredLength: Int?
    ) throws(TransportError) -> Body {
        let expectsBody = method == .post || method == .put || method == .patch
        guard let body else { return expectsBody ? .bytes([]) : .none }
        if let bytes = body.bytesInMemory {
            if bytes.isEmpty, !expectsBody { return .none }
            guard method != .head else { throw .invalid("a HEAD request cannot have a body") }
            return .bytes(bytes)
        }
        guard method != .head else { throw .invalid("a HEAD request cannot have a body") }
        let length = body.length ?? declaredLength
        if let length, length < 0 { throw .invalid("the body's length is negative") }
        return .stream(body, length: length)
    }
}

/// Collects header lines in libcurl's syntax.
private struct HeaderLines {
    private(set) var bytes: [UInt8]
    private(set) var count = 0

    init(after bytes: consuming [UInt8]) {
        self.bytes = bytes
    }

    mutating func append(_ field: HTTPField) throws(TransportError) {
        guard field.name.rawName.utf8.first != UInt8(ascii: ":") else {
            throw .invalid("a header field has a pseudo-field's name")
        }
        bytes.append(contentsOf: field.name.rawName.utf8)
        let mark = bytes.count
        var isLegal = true
        // The bytes are copied within the closure; the pointer does not leave it.
        unsafe field.withUnsafeBytesOfValue { value in
            if value.isEmpty {
                // "Name:" would remove the field; this is how libcurl is told to send it empty.
                bytes.append(UInt8(ascii: ";"))
            } else {
                bytes.append(UInt8(ascii: ":"))
                bytes.append(UInt8(ascii: " "))
                unsafe bytes.append(contentsOf: value)
            }
        }
        for byte in bytes[mark...] where (byte < 0x20 && byte != 0x09) || byte == 0x7f {
            isLegal = false
        }
        guard isLegal else { throw .invalid("a header field's value holds a control character") }
        bytes.append(0)
        count += 1
    }

    mutating func append(_ start: String, _ value: String) {
        bytes.append(contentsOf: start.utf8)
        bytes.append(contentsOf: value.utf8)
        bytes.append(0)
        count += 1
    }

    mutating func remove(_ name: String) {
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(0)
        count += 1
    }
}

extension TransportError {
    static func invalid(_ message: String) -> TransportError {
        TransportError(.invalidRequest, .neverSent, message: message)
    }
}
