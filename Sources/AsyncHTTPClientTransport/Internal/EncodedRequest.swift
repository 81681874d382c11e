#if AsyncHTTPClient
import HTTPRecovery
import HTTPTypes
import NIOHTTP1

/// A request in the form that the client takes it, checked beforehand.
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

    let method: HTTPMethod
    /// Scheme, host and port: what shares connections.
    let origin: String
    /// The path and the query as they go out; the client's own URL type would rewrite them.
    let target: String
    /// The fields in their order, the host first; the client adds how the body is framed.
    let headers: HTTPHeaders
    let body: Body
    /// Whether the transport asks for a content coding and undoes it.
    let decodes: Bool
    /// Whether the request itself says which content codings it takes.
    let namesCodings: Bool

    init(_ request: HTTPRequest, body: MessageBody?, decompresses: Bool) throws(TransportError) {
        let scheme = request.scheme ?? ""
        guard scheme == "http" || scheme == "https" else {
            throw .invalid("the scheme is neither http nor https")
        }
        let authority = request.authority ?? ""
        if let defect = Authority.defect(of: authority) { throw .invalid(defect) }
        // A fragment is not the server's (RFC 9110, section 7.1).
        let given = request.path?.prefix { $0 != "#" } ?? ""
        let path = given.isEmpty ? "/" : String(given)
        guard path.utf8.first == UInt8(ascii: "/") else { throw .invalid("the path does not begin with a slash") }
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw .invalid("the path holds a character that must be percent-encoded")
        }
        guard request.method != .connect else { throw .invalid("CONNECT is not supported") }

        self.method = HTTPMethod(rawValue: request.method.rawValue)
        self.origin = Origin(scheme: scheme, authority: authority).description
        self.target = path

        var headers = HTTPHeaders()
        headers.reserveCapacity(request.headerFields.count + 3)
        headers.add(name: "Host", value: authority)
        var declaredLength: Int?
        var (namesCodings, hasRange) = (false, false)
        var cookies: [String] = []
        for field in request.headerFields {
            switch field.name {
            // The authority is the host, and the body knows its framing.
            case Self.host, .transferEncoding, .expect: continue
            // That is the transport's, and whoever sends it on would choose whose request goes out.
            case Self.mark: continue
            case .contentLength:
                declaredLength = Int(field.value)
                continue
            case .acceptEncoding: namesCodings = true
            case .range: hasRange = true
            default: break
            }
            guard !field.name.rawName.utf8.isEmpty, field.name.rawName.utf8.allSatisfy(\.isToken) else {
                throw .invalid("a header field has a pseudo-field's name")
            }
            guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw .invalid("a header field's value holds a control character")
            }
            // The type of a message parts them; there is one field for all (RFC 6265 section 5.4).
            if field.name == .cookie {
                cookies.append(field.value)
            } else {
                headers.add(name: field.name.rawName, value: field.value)
            }
        }
        if !cookies.isEmpty { headers.add(name: "Cookie", value: cookies.joined(separator: "; ")) }
        self.body = try Self.plan(body, method: request.method, declaredLength: declaredLength)
        self.headers = headers
        self.namesCodings = namesCodings
        self.decodes = decompresses && !namesCodings && !hasRange
    }

    private static let host = HTTPField.Name("host")
    private static let mark = HTTPField.Name(WireHandler.mark)

    private static func plan(
        _ body: MessageBody?,
        method: HTTPRequest.Method,
        declaredLength: Int?
    ) throws(TransportError) -> Body {
        let expectsBody = method == .post || method == .put || method == .patch
        guard let body else { return expectsBody ? .bytes([]) : .none }
        if let bytes = body.bytesInMemory {
            if bytes.isEmpty { return expectsBody ? .bytes([]) : .none }
            guard method != .head, method != .trace else { throw .noBody }
            return .bytes(bytes)
        }
        guard method != .head, method != .trace else { throw .noBody }
        let length = body.length ?? declaredLength
        if let length, length < 0 { throw .invalid("the body's length is negative") }
        return .stream(body, length: length)
    }
}

extension TransportError {
    static func invalid(_ message: String) -> TransportError {
        TransportError(.invalidRequest, .neverSent, message: message)
    }

    static let noBody = TransportError.invalid("a HEAD or TRACE request cannot have a body")
}
#endif
