import AuthRecovery
import HTTPRecovery

/// A form with a file (RFC 7578).
struct MultipartForm {
    private let boundary: String
    private var bytes: [UInt8] = []

    /// Creates an empty form with a boundary that occurs in no file by chance.
    init(random: Runtime.RandomSource) {
        let (high, low) = (random.bits(), random.bits())
        boundary = "chunk-\(String(high, radix: 36))-\(String(low, radix: 36))"
    }

    private var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    var content: ProviderRequest.Content { ProviderRequest.Content(body, type: contentType) }

    private var body: MessageBody { MessageBody(bytes + Array("--\(boundary)--\r\n".utf8)) }

    mutating func add(_ name: String, _ value: String) {
        bytes += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8
    }

    mutating func add(_ name: String, file: [UInt8], name fileName: String) {
        let safe = fileName.unicodeScalars.map { scalar in
            scalar == "\"" || scalar == "\\" || scalar.value < 0x20 ? "_" : String(scalar)
        }
        bytes +=
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(safe.joined())\"\r\n".utf8
        bytes += "Content-Type: application/octet-stream\r\n\r\n".utf8
        bytes += file
        bytes += "\r\n".utf8
    }
}
