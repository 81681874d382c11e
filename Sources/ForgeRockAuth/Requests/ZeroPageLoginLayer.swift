import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// A name and a password that answer a journey before it has asked.
struct ZeroPageLogin: Sendable {
    var name: String
    var password: Secret
}

/// Presents a name and a password with the request that begins a journey, to the server that they belong to.
struct ZeroPageLoginLayer: ClientLayer {
    let origin: Origin
    let login: ZeroPageLogin

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var request = request
        if Origin(of: request) == origin {
            request.headerFields.setSecret(Self.name, Self.encoded(login.name))
            request.headerFields.setSecret(Self.password, Self.encoded(login.password.reveal()))
        }
        return try await next(request, body: body, context: context)
    }

    private static let name = HTTPField.Name("X-OpenAM-Username")!
    private static let password = HTTPField.Name("X-OpenAM-Password")!

    /// The text as it stands, or in encoded words (RFC 2047 section 2) if a field could not carry it.
    static func encoded(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        guard !isPlain || text.holds("=?") || text.hasPrefix(" ") || text.hasSuffix(" ") else { return text }
        var words: [String] = []
        var word: [UInt8] = []
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            // A word has 75 characters at most, and breaks no character.
            if word.count + bytes.count > 45 {
                words.append(Self.word(word))
                word = []
            }
            word += bytes
        }
        return (words + [Self.word(word)]).joined(separator: " ")
    }

    private static func word(_ bytes: [UInt8]) -> String {
        "=?UTF-8?B?\(Base64.encode(bytes))?="
    }
}
