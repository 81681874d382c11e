/// Makes text fit to be shown.
public enum Masking {
    /// A destination (an e-mail address, a telephone number) with only enough left to recognise it.
    ///
    /// What is masked already, as most providers send it, stays as it is.
    public static func destination(_ text: String) -> String {
        let plain = printable(text, limit: 128)
        // A page where a code is entered belongs to nobody; what stands behind its host might.
        if plain.hasPrefix("https://") || plain.hasPrefix("http://") {
            let parts = plain.split(separator: "/", omittingEmptySubsequences: false)
            return parts.count > 3 ? "\(parts[0])//\(parts[2])/…" : plain
        }
        if isMasked(plain) { return plain }
        if let at = plain.lastIndex(of: "@") {
            let domain = plain[plain.index(after: at)...]
            let ending = domain.lastIndex(of: ".").map { domain[$0...] } ?? ""
            return "\(plain[..<at].prefix(1))***@\(domain.prefix(1))***\(ending)"
        }
        return plain.count > 4 ? "***\(plain.suffix(2))" : "***"
    }

    /// Whether the text holds stars or dots, or is a number with letters x in it.
    private static func isMasked(_ text: String) -> Bool {
        if text.contains("*") || text.contains("•") { return true }
        return !text.contains("@") && text.lowercased().contains("xx")
    }

    /// The text on one line without control characters, so that a server cannot steer the terminal; cut to the limit.
    ///
    /// What is shown takes a ``ScreenText``, which sees to it.
    static func printable(_ text: some StringProtocol, limit: Int = 500) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            if isPrintable(scalar) {
                result.append(scalar)
            } else if result.last != " " {
                result.append(" ")
            }
        }
        return String(result)
    }

    /// Whether a character shows itself and does nothing else: it steers no terminal, ends no line, and neither hides nor
    /// reorders its neighbours.
    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
