/// Text in the pages of the sandbox.
enum HTML {
    /// A text of somebody's, at most 4,000 characters of it, which cannot leave its place in a page.
    static func escaped(_ text: String) -> String {
        text.prefix(4000).unicodeScalars.reduce(into: "") { escaped, scalar in
            // Scalar by scalar: a sign that joins a character must not hide one of these.
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
