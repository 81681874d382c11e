/// Tells secrets and names apart without showing them, alike in every process.
///
/// A fingerprint hides what nobody can guess, such as a random token. What can be guessed, such as an e-mail address or
/// a password in a `Basic` field, is found by whoever tries all guesses; a salt makes that a search of its own for each
/// salt, and only one that is kept secret prevents it.
package enum Fingerprint {
    /// The first 128 bits of the text's SHA-256, in hexadecimal.
    package static func text(of text: String) -> String {
        hexadecimal(SHA256.hash(text.utf8))
    }

    /// The first 128 bits of a SHA-256 over the salt's own and the text, in hexadecimal: another fingerprint for each
    /// salt.
    package static func text(of text: String, salt: Salt) -> String {
        hexadecimal(SHA256.hash(salt.hash + Array(text.utf8)))
    }

    /// What sets fingerprints apart from others of the same text.
    package struct Salt: Sendable {
        fileprivate let hash: [UInt8]

        package init(_ bytes: [UInt8]) {
            hash = SHA256.hash(bytes)
        }
    }

    private static func hexadecimal(_ hash: [UInt8]) -> String {
        Hexadecimal.encode(hash.prefix(16))
    }
}
