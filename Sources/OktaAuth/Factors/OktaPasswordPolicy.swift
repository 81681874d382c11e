import HTTPRecovery

/// The rules for passwords, as far as the server tells them.
public struct OktaPasswordPolicy: Sendable, Hashable {
    /// The least length.
    public var minLength: Int?
    /// The least number of lower-case letters.
    public var minLowerCase: Int?
    /// The least number of upper-case letters.
    public var minUpperCase: Int?
    /// The least number of digits.
    public var minNumber: Int?
    /// The least number of other characters.
    public var minSymbol: Int?
    /// Whether parts of the name are forbidden; servers write it as a truth value or as text.
    public var excludesUsername: Bool

    /// When the password expires, in days.
    public var expiresInDays: Int?

    /// Reads a policy; nil if it says nothing of passwords.
    init?(_ json: JSONValue) {
        let complexity = json["complexity"]
        let days = json["expiration"]?["passwordExpireDays"]?.number?.saturatedInt
        guard complexity != nil || days != nil else { return nil }
        func count(_ name: String) -> Int? {
            complexity?[name]?.number.map { Int(clamping: min(max($0.saturatedInt, 0), 1000)) }
        }
        minLength = count("minLength")
        minLowerCase = count("minLowerCase")
        minUpperCase = count("minUpperCase")
        minNumber = count("minNumber")
        minSymbol = count("minSymbol")
        let exclusion = complexity?["excludeUsername"]
        excludesUsername = exclusion?.bool ?? (exclusion?.string?.lowercased() == "true")
        expiresInDays = days.map { Int(clamping: $0) }
    }

    /// What a person is told whose password, which is still good, expires.
    static func warning(inDays days: Int?) -> String {
        switch days {
        case 0: "The password expires today."
        case 1: "The password expires in a day."
        case let days? where days > 1: "The password expires in \(days) days."
        default: "The password expires soon."
        }
    }

    /// The rules in a sentence for the person; nil if there is none.
    public var summary: String? {
        let counts: [(Int?, String)] = [
            (minLength, "characters"), (minLowerCase, "lower-case letters"), (minUpperCase, "upper-case letters"),
            (minNumber, "digits"), (minSymbol, "symbols"),
        ]
        var parts = counts.compactMap { count, name in count.flatMap { $0 > 0 ? "\($0) \(name)" : nil } }
        if !parts.isEmpty { parts = ["at least " + parts.joined(separator: ", ")] }
        if excludesUsername { parts.append("no part of the user name") }
        return parts.joined(separator: "; ").nonEmpty
    }
}
