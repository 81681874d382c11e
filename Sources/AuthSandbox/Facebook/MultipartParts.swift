import HTTPRecovery

/// A form with a file (RFC 7578), as far as the sandbox reads one.
struct MultipartParts {
    private(set) var fields: [FormEncoding.Field] = []
    private(set) var file: (field: String, bytes: [UInt8])?

    /// Nil for a body of another type.
    init?(_ request: SandboxRequest) {
        guard let type = request.header("content-type"), type.lowercased().hasPrefix("multipart/form-data"),
            let start = type.firstRange(of: "boundary=")
        else { return nil }
        let boundary = type[start.upperBound...].prefix { $0 != ";" }.filter { $0 != "\"" }
        guard !boundary.isEmpty else { return nil }
        let mark = Array("--\(boundary)".utf8)
        let gap = Array("\r\n\r\n".utf8)
        var rest = request.body[...]
        while let here = rest.firstRange(of: mark) {
            rest = rest[here.upperBound...]
            let end = rest.firstRange(of: mark)?.lowerBound ?? rest.endIndex
            let part = rest[..<end]
            guard let head = part.firstRange(of: gap) else { continue }
            let lines = String(decoding: part[..<head.lowerBound], as: UTF8.self)
            guard let name = Self.value("name", in: lines) else { continue }
            let bytes = part[head.upperBound...].dropLast(2)
            if Self.value("filename", in: lines) != nil {
                file = (name, Array(bytes))
            } else {
                fields.append(.init(name: name, value: String(decoding: bytes, as: UTF8.self)))
            }
        }
    }

    private static func value(_ name: String, in lines: String) -> String? {
        lines.firstRange(of: " \(name)=\"").map { String(lines[$0.upperBound...].prefix { $0 != "\"" }) }
    }
}
