import HTTPTypes

/// The names that most responses have: they are found by their bytes, where others are checked and put in lower case.
enum CommonFieldNames {
    private struct Entry {
        let bytes: [UInt8]
        let name: HTTPField.Name
    }

    private static let texts = [
        "Age", "Via", "ETag", "Link", "Vary", "Date", "Allow", "CF-Ray", "Pragma", "Server", "Alt-Svc", "Expires",
        "Location", "Connection", "Keep-Alive", "Set-Cookie", "Content-Type", "Retry-After", "X-Request-Id",
        "Accept-Ranges", "Cache-Control", "Last-Modified", "Content-Length", "Content-Encoding", "Content-Language",
        "Referrer-Policy", "WWW-Authenticate", "X-Frame-Options", "X-RateLimit-Limit", "X-RateLimit-Reset",
        "X-Rate-Limit-Limit", "X-Rate-Limit-Reset", "Transfer-Encoding", "X-XSS-Protection", "X-RateLimit-Remaining",
        "X-Rate-Limit-Remaining", "X-Content-Type-Options", "Content-Security-Policy", "Strict-Transport-Security",
        "Access-Control-Allow-Origin",
    ]

    /// By their lengths, as HTTP/1 servers mostly write them and as HTTP/2 has them.
    private static let table: [[Entry]] = {
        var table = [[Entry]](repeating: [], count: 32)
        for text in texts.flatMap({ [$0, $0.lowercased()] }) {
            guard let name = HTTPField.Name(text), text.utf8.count < table.count else { continue }
            table[text.utf8.count].append(Entry(bytes: Array(text.utf8), name: name))
        }
        return table
    }()

    /// The name that the bytes stand for; nil if they are none.
    static func name(_ bytes: UnsafeBufferPointer<UInt8>) -> HTTPField.Name? {
        if bytes.count < table.count {
            for entry in table[bytes.count] where unsafe entry.bytes.elementsEqual(bytes) { return entry.name }
        }
        return HTTPField.Name(unsafe String(decoding: bytes, as: UTF8.self))
    }
}
