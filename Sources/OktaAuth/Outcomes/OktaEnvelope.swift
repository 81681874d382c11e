import HTTPRecovery

/// The error of an answer of Okta's; every member may be missing, and real servers leave them out.
struct OktaEnvelope {
    /// One of the causes.
    struct Cause {
        var summary: String?
        /// The name of the field that it is about.
        var location: String?

        init?(_ value: JSONValue) {
            summary = (value["errorSummary"]?.string ?? value.string)?.nonEmpty?.bounded(to: 4096)
            location = value["location"]?.string?.nonEmpty?.bounded(to: 256)
            if summary == nil, location == nil { return nil }
        }
    }

    /// The code, such as `E0000068`; nil if there is none, or the word of an OAuth error in its place.
    var code: String?
    var summary: String?
    var causes: [Cause]
    /// The causes as they were sent.
    var details: JSONValue?

    /// Reads a body; nil if it holds no such error.
    init?(_ body: JSONValue) {
        let code = body["errorCode"]?.codeText?.bounded(to: 256)
        // OAuth endpoints put their own words here at times.
        if let code, !Self.isCode(code) { return nil }
        self.code = code
        summary = body["errorSummary"]?.string?.nonEmpty?.bounded(to: 4096)
        // The key is misspelt at times, and may hold a single cause.
        details = body["errorCauses"] ?? body["errorCause"]
        causes = (details?.array ?? details.map { [$0] } ?? []).prefix(32).compactMap(Cause.init)
        if code == nil, summary == nil, causes.isEmpty { return nil }
    }

    /// An error that a message stands for.
    init(code: String, summary: String?) {
        self.code = code
        self.summary = summary
        causes = []
    }

    /// Whether a text is a code: an E and digits.
    static func isCode(_ text: String) -> Bool {
        guard let first = text.utf8.first, first == UInt8(ascii: "E") || first == UInt8(ascii: "e") else {
            return false
        }
        return text.utf8.count > 1 && text.utf8.dropFirst().allSatisfy(\.isDigit)
    }

    /// All texts in lower case, for the codes that have several meanings.
    var text: String {
        ([summary] + causes.map(\.summary)).compactMap { $0?.lowercased() }.joined(separator: "\n")
    }

    /// What the causes say to a person, together.
    var causeText: String? {
        causes.compactMap(\.summary).joined(separator: " ").nonEmpty?.bounded(to: 4096)
    }

    /// The field that the error is about: as a cause locates it, else as a text names it in front of a colon, or behind
    /// "failed:".
    var parameter: String? {
        for cause in causes {
            if let location = cause.location, Self.isName(location[...]) { return location }
            if let name = cause.summary?.split(separator: ":", maxSplits: 1).first, name.count != cause.summary?.count,
                Self.isName(name)
            {
                return String(name)
            }
        }
        if let location = causes.lazy.compactMap(\.location).first { return location }
        guard let parts = summary?.split(separator: ":", maxSplits: 1), parts.count == 2,
            parts[0].lowercased().hasSuffix("failed") || parts[0].lowercased().hasSuffix("not valid")
        else { return nil }
        let name = parts[1].drop { $0 == " " || $0 == "\"" }.prefix { $0 != "\"" }
        return Self.isName(name) ? String(name) : nil
    }

    /// Whether a text is the name of a field.
    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 64, first >= UInt8(ascii: "A") else { return false }
        return text.utf8.allSatisfy { $0.isAlphanumeric || "_.-".utf8.contains($0) }
    }
}
