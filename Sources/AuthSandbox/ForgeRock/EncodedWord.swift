import HTTPRecovery

/// Texts that header fields carry as encoded words (RFC 2047 section 2), in UTF-8 and Base64.
enum EncodedWord {
    /// The text; what is no encoded word stands for itself, and so does all of it if one word cannot be read.
    static func decode(_ text: String) -> String {
        guard text.hasPrefix("=?") else { return text }
        var bytes: [UInt8] = []
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "?", omittingEmptySubsequences: false)
            guard parts.count == 5, parts[0] == "=", parts[4] == "=", parts[1].lowercased() == "utf-8",
                parts[2].lowercased() == "b", word.utf8.count <= 75, let decoded = Base64.decode(parts[3].utf8)
            else { return text }
            bytes += decoded
        }
        return String(validating: bytes, as: UTF8.self) ?? text
    }
}
