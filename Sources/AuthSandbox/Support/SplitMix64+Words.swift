import HTTPRecovery

/// Everything that looks random in the sandbox comes from here, so that a seed repeats a run.
extension SplitMix64 {
    /// An id in the provider's style: a prefix and 27 letters and digits.
    mutating func identifier(_ prefix: String) -> String {
        prefix + letters(27)
    }

    /// Letters and digits without a meaning.
    mutating func letters(_ count: Int) -> String {
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        return String(decoding: (0..<count).map { _ in alphabet[Int.random(in: 0..<62, using: &self)] }, as: UTF8.self)
    }

    /// A code of six digits, never the fixed one of the test addresses.
    mutating func sixDigits() -> String {
        while true {
            let code = String(Int.random(in: 100_000...999_999, using: &self))
            if code != "424242" { return code }
        }
    }
}
