import HTTPTypes

/// The names that most responses have: they are found by their bytes, where others are checked and put in lower case.
enum CommonFieldNames {
    private struct Entry {
        let bytes: [UInt8]
        let name: HTTPField.Name
        let isRepeated: Bool
    }

    /// Those whose values are mostly the same from response to response, and are nobody's secret.
    private static let repeated = [
        "Via", "Vary", "Date", "Allow", "Pragma", "Server", "Alt-Svc", "Expires", "Connection", "Keep-Alive",
        "Content-Type", "Accept-Ranges", "Cache-Control", "Content-Length", "Content-Encoding", "Content-Language",
        "Referrer-Policy", "X-Frame-Options", "X-RateLimit-Limit", "X-Rate-Limit-Limit", "X-Rate-Limit-Reset",
        "Transfer-Encoding", "X-XSS-Protection", "X-Content-Type-Options", "Strict-Transport-Security",
        "Access-Control-Allow-Origin",
    ]
    private static let others = [
        "Age", "ETag", "Link", "CF-Ray", "Location", "Set-Cookie", "Retry-After", "X-Request-Id", "Last-Modified",
        "WWW-Authenticate", "X-RateLimit-Reset", "X-RateLimit-Remaining", "X-Rate-Limit-Remaining",
        "Content-Security-Policy",
    ]

    /// By their lengths, as HTTP/1 servers mostly write them and as HTTP/2 has them.
    private static let table: [[Entry]] = {
        var table = [[Entry]](repeating: [], count: 32)
        for (texts, isRepeated) in [(repeated, true), (others, false)] {
            for text in texts.flatMap({ [$0, $0.lowercased()] }) {
                guard let name = HTTPField.Name(text), text.utf8.count < table.count else { continue }
                table[text.utf8.count].append(Entry(bytes: Array(text.utf8), name: name, isRepeated: isRepeated))
            }
        }
        return table
    }()

    /// The name that the bytes stand for, and whether its values are mostly the same; nil if they are none.
    static func name(_ bytes: UnsafeBufferPointer<UInt8>) -> (name: HTTPField.Name, isRepeated: Bool)? {
        if bytes.count < table.count {
            for entry in table[bytes.count] where unsafe bytes.isEqual(to: entry.bytes) {
                return (entry.name, entry.isRepeated)
            }
        }
        return HTTPField.Name(unsafe String(decoding: bytes, as: UTF8.self)).map { ($0, false) }
    }
}
