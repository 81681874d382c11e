import AuthRecovery
import HTTPRecovery

/// The fields of a form, encoded as `application/x-www-form-urlencoded` (WHATWG URL standard).
struct FormFields: Sendable {
    private var pairs: [(name: String, value: Secret)] = []

    /// Adds a field; one without a value is left out.
    mutating func add(_ name: String, _ value: String?) {
        if let value { pairs.append((name, Secret(value))) }
    }

    /// Adds a field that must not be seen.
    mutating func add(_ name: String, secret: Secret?) {
        if let secret { pairs.append((name, secret)) }
    }

    /// The form's body.
    var body: HTTPBody {
        HTTPBody(pairs.map { "\(Self.encode($0.name))=\(Self.encode($0.value.reveal()))" }.joined(separator: "&"))
    }

    /// A text as one segment of a path, which it cannot leave.
    static func encode(segment text: String) -> String {
        if !text.isEmpty, text.allSatisfy({ $0 == "." }) { return text.map { _ in "%2E" }.joined() }
        return encode(text).split(separator: "+", omittingEmptySubsequences: false).joined(separator: "%20")
    }

    /// A text in form encoding; what is not in the unreserved set is percent-encoded.
    static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "*"):
                encoded.append(byte)
            case 0x20:
                encoded.append(UInt8(ascii: "+"))
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                encoded.append(UInt8(ascii: "%"))
                encoded.append(digits[Int(byte >> 4)])
                encoded.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
