import HTTPRecovery

/// An error of Auth0's, in whichever of its forms.
struct Auth0Error {
    /// The code: one word, or the whole sentence if there is nothing else.
    let code: String
    /// The text for developers, or the one that a tenant's own rule has written for people.
    let text: String
    /// The finer name, such as `PasswordStrengthError`.
    let name: String?
    /// The field that the error is about.
    let parameter: String?
    /// Whether it comes with an mfa token, with which a sign-in goes on.
    let hasToken: Bool
    /// Whether no second factor is there yet, and one can be set up.
    let wantsEnrollment: Bool
    /// The rules that a new password breaks, as sentences.
    let brokenRules: [String]

    /// Reads a body; nil if it holds no error.
    init?(_ body: JSONValue) {
        let error = Self.text(body["error"]) ?? Self.text(body["error"]?[0])
        let isWord = error.map { !$0.utf8.contains(UInt8(ascii: " ")) && !Self.phrases.contains($0) } ?? false
        let isOfPassword = Self.passwordErrors.contains(Self.text(body["name"]) ?? "")
        guard
            let code = (isWord ? error : nil) ?? Self.text(body["errorCode"]) ?? Self.text(body["code"]) ?? error
                ?? (isOfPassword ? "invalid_password" : nil)
        else { return nil }
        self.code = code
        let description = body["description"]
        text =
            Self.text(body["error_description"]) ?? Self.text(description) ?? Self.text(body["message"]) ?? error ?? ""
        name = Self.text(body["name"])
        hasToken = Self.text(body["mfa_token"]) != nil
        let requirements = body["mfa_requirements"]
        wantsEnrollment =
            requirements?["enroll"]?.array?.isEmpty == false && requirements?["challenge"]?.array?.isEmpty != false
        brokenRules = Self.rules(description)
        parameter = Self.parameter(code, text, body)
    }

    /// Phrases of one word that a status has, which stand where a code would; in lower case they may be one.
    private static let phrases: Set<String> = ["Unauthorized", "Forbidden", "Conflict", "Gone", "Locked", "Error"]

    /// The names that tell why a new password is not taken, also where no code stands beside.
    private static let passwordErrors: Set<String> = [
        "PasswordStrengthError", "PasswordDictionaryError", "PasswordNoUserInfoError", "PasswordHistoryError",
    ]

    /// Whether the code is one word that may be shown and logged.
    var hasWord: Bool {
        code.utf8.count <= 256 && code.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && !Self.phrases.contains(code)
    }

    /// Whether the text, in whatever case, says one of these.
    func says(_ phrases: String...) -> Bool {
        let text = text.lowercased()
        return phrases.contains { text.contains($0) }
    }

    /// A text of bounded length; nil for an empty one.
    private static func text(_ value: JSONValue?) -> String? {
        guard let text = value?.string, !text.isEmpty else { return nil }
        return String(decoding: text.utf8.prefix(4096), as: UTF8.self)
    }

    /// The unmet rules of a weak password, each with what is missing of its list.
    private static func rules(_ description: JSONValue?) -> [String] {
        unmet(description?["rules"]).compactMap { rule in
            guard let sentence = sentence(rule) else { return nil }
            let missing = unmet(rule["items"]).compactMap(self.sentence)
            return missing.isEmpty ? sentence : "\(sentence) \(missing.joined(separator: ", "))"
        }
    }

    private static func unmet(_ rules: JSONValue?) -> some Sequence<JSONValue> {
        (rules?.array ?? []).prefix(32).filter { $0["verified"]?.bool == false }
    }

    /// What a rule says, its values filled in.
    private static func sentence(_ rule: JSONValue) -> String? {
        guard var sentence = text(rule["message"]) else { return nil }
        for value in (rule["format"]?.array ?? []).prefix(8) {
            guard let place = sentence.firstRange(of: "%d") ?? sentence.firstRange(of: "%s") else { break }
            sentence.replaceSubrange(place, with: value.codeText ?? "")
        }
        return sentence
    }

    private static func parameter(_ code: String, _ text: String, _ body: JSONValue) -> String? {
        if let field = Self.text(body["validation_errors"]?[0]?["field"]) { return field }
        if code.hasPrefix("bad.") { return String(code.dropFirst(4)) }
        if code == "invalid_password" { return "password" }
        let lower = text.lowercased()
        let frames = [("missing required parameter: ", ""), ("missing ", " parameter"), ("missing ", " for")]
        for (opening, closing) in frames {
            guard let start = lower.firstRange(of: opening)?.upperBound else { continue }
            let name = lower[start...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            if !name.isEmpty, lower[name.endIndex...].hasPrefix(closing) { return String(name) }
        }
        return nil
    }
}
