import HTTPRecovery

/// A Clerk publishable key: it names the host of the Frontend API.
///
/// `pk_test_` or `pk_live_`, followed by the Base64 of the host and a `$` (Clerk's guide "Clerk environment
/// variables").
public struct PublishableKey: Sendable, Hashable {
    /// Whether the key belongs to a production instance.
    public let isProduction: Bool

    /// The Frontend API's host, with a port if the key names one.
    public let host: String

    /// Reads a key.
    ///
    /// - Throws: ``InvalidPublishableKey`` when the text is no such key.
    public init(_ text: String) throws(InvalidPublishableKey) {
        let encoded: Substring
        if text.hasPrefix("pk_test_") {
            isProduction = false
            encoded = text.dropFirst(8)
        } else if text.hasPrefix("pk_live_") {
            isProduction = true
            encoded = text.dropFirst(8)
        } else {
            throw InvalidPublishableKey(description: "a publishable key begins with pk_test_ or pk_live_")
        }
        guard let decoded = Base64.decode(encoded.utf8), decoded.last == UInt8(ascii: "$") else {
            throw InvalidPublishableKey(description: "the publishable key is cut off or mistyped")
        }
        let host = decoded.dropLast()
        guard !host.isEmpty, host.allSatisfy(Self.isHostByte) else {
            throw InvalidPublishableKey(description: "the publishable key names no host")
        }
        self.host = String(decoding: host, as: UTF8.self)
    }

    /// The base URL of the Frontend API.
    public var frontendAPI: String { "https://\(host)" }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || ".-:".utf8.contains(byte)
    }
}

/// Why a text is no publishable key.
public struct InvalidPublishableKey: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public let description: String
}
