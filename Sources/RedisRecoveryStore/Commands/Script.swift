#if Redis
import COpenSSL
import HTTPRecovery

/// A Lua script that the server runs as one atomic step.
///
/// The server knows it by the SHA-1 of its text; if it does not (a new server, `SCRIPT FLUSH`) the text is sent.
struct Script: Sendable {
    let text: [UInt8]
    let digest: [UInt8]

    init(_ text: String) {
        self.text = Array(text.utf8)
        var hash = [UInt8](repeating: 0, count: 20)
        _ = unsafe SHA1(self.text, self.text.count, &hash)
        digest = Array(Hexadecimal.encode(hash).utf8)
    }
}
#endif
