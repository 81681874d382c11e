import HTTPTypes

/// Reads requests from a connection, strictly enough for tests.
struct RequestReader {
    let connection: FaultServer.Connection
    var index = 0

    init(connection: FaultServer.Connection) {
        self.connection = connection
    }

    /// The head of the next request; nil when the client leaves before its end.
    mutating func head() -> FaultServer.Request? {
        var bytes: [UInt8] = []
        let end: [UInt8] = [13, 10, 13, 10]
        var searched = 0
        while true {
            guard let more = connection.read() else { return nil }
            bytes += more
            var found: Int?
            for start in Swift.max(0, searched - 3)..<Swift.max(0, bytes.count - 3)
            where bytes[start] == 13 && bytes[start..<(start + 4)].elementsEqual(end) {
                found = start + 4
                break
            }
            searched = bytes.count
            guard let found else { continue }
            connection.unread(bytes[found...])
            return parse(Array(bytes[..<found]))
        }
    }

    /// The request with its body; nil when the client leaves before the body's end.
    mutating func body(of head: FaultServer.Request) -> FaultServer.Request? {
        var request = head
        if head.headers[.transferEncoding]?.lowercased() == "chunked" {
            guard let body = chunkedBody() else { return nil }
            request.body = body
        } else if let length = head.headers[.contentLength].flatMap({ Int($0) }), length > 0 {
            guard let body = connection.read(exactly: length) else { return nil }
            request.body = body
        }
        return request
    }

    private mutating func parse(_ head: [UInt8]) -> FaultServer.Request {
        let lines = head.split(separator: 10).map { line in
            String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
        }
        let parts = (lines.first ?? "").split(separator: " ")
        var fields = HTTPFields()
        // More than any client sends; the fields of HTTP have a bound of their own, which must not be met.
        for line in lines.dropFirst().prefix(10_000) {
            guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
                continue
            }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            fields.append(HTTPField(name: name, value: String(value)))
        }
        defer { index += 1 }
        return FaultServer.Request(
            method: parts.first.map(String.init) ?? "",
            path: parts.count > 1 ? String(parts[1]) : "",
            headers: fields,
            rawHead: head,
            connection: connection.id,
            indexOnConnection: index
        )
    }

    private func line() -> String? {
        var bytes: [UInt8] = []
        while let byte = connection.read(exactly: 1)?[0] {
            if byte == 10 { return String(decoding: bytes.last == 13 ? bytes.dropLast() : bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return nil
    }

    private func chunkedBody() -> [UInt8]? {
        var body: [UInt8] = []
        while let size = line().flatMap({ Int($0, radix: 16) }) {
            if size == 0 {
                while let trailer = line() {
                    if trailer.isEmpty { return body }
                }
                return nil
            }
            guard let chunk = connection.read(exactly: size), line() != nil else { return nil }
            body += chunk
        }
        return nil
    }
}
