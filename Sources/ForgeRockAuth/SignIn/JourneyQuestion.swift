import AuthRecovery
import HTTPRecovery

/// One thing that a step asks a person for.
struct JourneyQuestion {
    /// How it is asked, and what an answer becomes.
    enum Form {
        /// A text.
        case text
        /// A number.
        case number
        /// A yes or a no.
        case agreement
        /// One of several values, each with its label.
        case options([(label: String, value: JSONValue)], defaultIndex: Int?)
        /// The outcome of a WebAuthn ceremony that is carried out elsewhere.
        case ceremony
        /// Where a browser came back that was sent to another site.
        case redirect
    }

    /// Which callback of the step, and which of its inputs.
    struct Place: Hashable {
        var callback: Int
        var input: Int
    }

    /// What tells the question from others across journeys.
    struct Name: Hashable {
        var type: String
        var stage: String?
        var prompt: String?
        /// Which of several callbacks that are alike.
        var occurrence: Int
        var input: Int
    }

    var place: Place
    var name: Name
    var key: Factor.Key
    var form: Form
    var prompt: String?
    var hint: String?
    /// Where a browser has to go.
    var url: Secret?
    /// Where the password or the name that was given beforehand fits.
    var given: Given?

    enum Given: String {
        case identifier
        case password
    }

    /// What tells the question's factor from others.
    var id: String { "\(name.type)#\(name.stage ?? "")#\(name.occurrence).\(name.input)" }

    var factor: Factor {
        Factor(key: key, providerName: name.type, id: id)
    }

    /// The option that lets a person set a question of their own; what it stands for is asked for next.
    static let own = "A question of your own"
    /// The option of those who sign in here, with name and password.
    static let localAuthentication = "localAuthentication"

    /// The same for a text of the person's own, in the place of the options.
    var inOwnWords: JourneyQuestion {
        var question = self
        (question.key, question.form, question.prompt) = (.text, .text, "Your question")
        return question
    }

    /// Whether a value leads away from a page for those who sign in here and those who sign in elsewhere: these have nothing
    /// else to answer on it.
    func leadsElsewhere(by value: JSONValue) -> Bool {
        guard name.type == "SelectIdPCallback", case .options(let options, _) = form else { return false }
        return value.string != Self.localAuthentication && options.contains { $0.label == Self.localAuthentication }
    }

    /// The options as factors, by their labels.
    var factors: [Factor] {
        guard case .options(let options, let defaultIndex) = form else { return [] }
        return options.enumerated().map { index, option in
            let isLocal = name.type == "SelectIdPCallback" && option.label == Self.localAuthentication
            let key = isLocal ? .password : namesFactors ? Factor.Key.named(by: option.label) ?? .choice : .choice
            return Factor(
                key: key,
                providerName: option.label,
                // Whatever question that will be: more than the label is not known yet.
                destination: key == .securityAnswer ? option.label : nil,
                id: "\(id)=\(index)",
                isDefault: index == defaultIndex
            )
        }
    }

    /// Whether the options can be ways to prove oneself; a security question to choose speaks of phones and mails too.
    private var namesFactors: Bool { name.type == "ChoiceCallback" || name.type == "ConfirmationCallback" }

    /// The value of a factor of this question.
    func value(of factor: Factor) -> JSONValue? {
        guard case .options(let options, _) = form else { return nil }
        return zip(factors, options).first { $0.0.id == factor.id }?.1.value
    }

    /// The value of an answer in text; nil if the text is none.
    func value(of answer: Secret) -> JSONValue? {
        let text = answer.reveal()
        switch form {
        case .text, .ceremony, .redirect:
            return .string(text)
        case .number:
            return (try? JSONValue(parsing: text)).flatMap { $0.number }.map { .number($0) }
        case .agreement:
            switch text.lowercased() {
            case "yes", "y", "true", "1", "ok", "accept", "agree": return true
            case "no", "n", "false", "0", "decline", "reject": return false
            default: return nil
            }
        case .options(let options, _):
            let wanted = text.lowercased()
            return options.first { $0.label.lowercased() == wanted }?.value
        }
    }

    /// Whether an answer can be used again in a journey that is begun anew.
    var isReplayable: Bool {
        switch key {
        case .password, .choice, .text: true
        default: false
        }
    }

    /// Whether the same question again means that its answer was refused.
    var isProof: Bool {
        switch key {
        case .password, .emailCode, .phoneCode, .totp, .backupCode, .newPassword, .securityAnswer, .captcha: true
        default: false
        }
    }
}

extension Factor.Key {
    /// The sort of factor that a label speaks of; nil if it speaks of none.
    static func named(by label: String) -> Factor.Key? {
        let text = label.lowercased()
        func speaks(_ words: String...) -> Bool { words.contains { text.holds($0) } }
        if speaks("recovery code", "backup code") { return .backupCode }
        if speaks("push") { return .push }
        if speaks("webauthn", "passkey", "security key", "fido", "biometric") { return .webauthn }
        if speaks("e-mail", "email") { return .emailCode }
        if speaks("sms", "text message", "phone", "voice", "call") { return .phoneCode }
        if speaks("authenticator", "totp", "oath", "one time", "one-time", "otp", "verification code") { return .totp }
        if speaks("security question") { return .securityAnswer }
        if speaks("password") { return .password }
        return nil
    }

    /// The sort of code that a prompt asks for; nil if it asks for none.
    static func code(askedBy prompt: String?, texts: [String]) -> Factor.Key? {
        let asked = (prompt ?? "").lowercased()
        let words = ["one time", "one-time", "otp", "passcode", "code", "hotp"]
        let first = words.compactMap { asked.firstRange(of: $0)?.lowerBound }.min()
        guard let first, !asked.holds("postal"), !asked.holds("zip") else { return nil }
        // A "password or access code" is a password, a "one-time password" is none.
        if let password = asked.firstRange(of: "password")?.lowerBound, password < first { return nil }
        return code(by: asked, texts)
    }

    /// The sort of code that a prompt asks for where mostly something else is asked for, such as a name; nil unless the
    /// prompt says so in words that mean nothing else: a "customer code" is a name, and so is what a text beside it speaks
    /// of.
    static func code(namedBy prompt: String?, texts: [String]) -> Factor.Key? {
        let asked = (prompt ?? "").lowercased()
        guard !["user name", "username", "user id", "userid"].contains(where: { asked.holds($0) }) else { return nil }
        let words = asked.utf8.split { !$0.isAlphanumeric && $0 < 0x80 }.map { String(decoding: $0, as: UTF8.self) }
        let names = [
            "one time", "one-time", "passcode", "verification code", "authentication code", "authenticator code",
            "security code", "recovery code", "backup code", "digit code", "oath code", "sms code", "email code",
            "e-mail code", "tokencode", "code from your", "code sent", "code we sent",
        ]
        let isNamed = names.contains { asked.holds($0) } || words.contains { ["otp", "totp", "hotp"].contains($0) }
        guard isNamed || words.filter({ !fillers.contains($0) }) == ["code"] else { return nil }
        return code(by: asked, texts)
    }

    /// The words that a prompt may have around the one thing that it asks for.
    private static let fillers: Set<String> = ["enter", "type", "in", "input", "please", "the", "your", "a", "here"]

    private static func code(by asked: String, _ texts: [String]) -> Factor.Key {
        if asked.holds("recovery code") || asked.holds("backup code") { return .backupCode }
        for text in [asked] + texts.map({ $0.lowercased() }) {
            if text.holds("mail") { return .emailCode }
            if text.holds("sms") || text.holds("phone") || text.holds("text message") { return .phoneCode }
        }
        return .totp
    }
}
