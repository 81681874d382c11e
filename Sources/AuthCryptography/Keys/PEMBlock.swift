#if Cryptography
import HTTPRecovery

/// One block of a PEM text (RFC 7468): its label and its bytes.
struct PEMBlock {
    let label: String
    let bytes: [UInt8]

    /// The blocks of a text; what stands between them is ignored, and a block that cannot be read is left out.
    ///
    /// Environment variables often hold the text on one line, with `\n` written out; that is read too.
    static func blocks(in text: String) -> [PEMBlock] {
        var text = text
        if !text.utf8.contains(UInt8(ascii: "\n")) {
            text = text.split(separator: "\\n", omittingEmptySubsequences: false).joined(separator: "\n")
        }
        var blocks: [PEMBlock] = []
        var label: String?
        var content: [UInt8] = []
        for line in text.split(whereSeparator: \.isNewline) {
            if let begun = Self.label(of: line, "BEGIN") {
                label = begun
                content = []
            } else if let ended = Self.label(of: line, "END") {
                if ended == label, let bytes = Base64.decode(content) {
                    blocks.append(PEMBlock(label: ended, bytes: bytes))
                }
                label = nil
            } else if label != nil {
                content += line.utf8.filter { $0 != 0x20 && $0 != 0x09 }
            }
        }
        return blocks
    }

    /// The block as PEM text by the letter of RFC 7468.
    var text: String {
        let base64 = Array(Base64.encode(bytes).utf8)
        let lines = stride(from: 0, to: base64.count, by: 64).map { start in
            String(decoding: base64[start..<min(start + 64, base64.count)], as: UTF8.self)
        }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: "\n") + "\n"
    }

    private static func label(of line: Substring, _ word: String) -> String? {
        let trimmed = line.drop { $0 == " " || $0 == "\t" }
        guard trimmed.hasPrefix("-----\(word) ") else { return nil }
        let label = trimmed.dropFirst(word.count + 6)
        guard let end = label.firstIndex(of: "-") else { return nil }
        return String(label[..<end])
    }
}
#endif
