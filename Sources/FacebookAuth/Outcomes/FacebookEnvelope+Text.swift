import HTTPRecovery

// Some edges, batches and wrappers lose the code of an error; what is left is its text.
extension FacebookEnvelope {
    /// A text that stands in an error's place: one that begins with a code, or is that of a limit; nil for any other.
    static func said(_ text: String) -> FacebookEnvelope? {
        guard text.utf8.count <= 1024 else { return nil }
        var envelope = FacebookEnvelope(.graph)
        envelope.message = text
        envelope.takeSaidCode()
        return envelope.code != nil || envelope.saidCode != nil ? envelope : nil
    }

    /// Whether the code is missing: a zero stands for none, except where it refuses a token.
    private var lacksCode: Bool { code == nil || (number == 0 && type != "AuthException") }

    /// Takes the code with which the message begins, such as `(#4) …`, if there is no other.
    mutating func takeSaidCode() {
        guard lacksCode, let message, message.hasPrefix("(#") else { return }
        let digits = message.dropFirst(2).prefix { $0.isASCII && $0.isNumber }
        guard (1...9).contains(digits.utf8.count), message[digits.endIndex...].hasPrefix(")"), let code = Int(digits)
        else { return }
        if code != 0 { self.code = String(code) }
    }

    /// The code of the limit that the message speaks of if there is no code.
    var saidCode: Int? {
        guard lacksCode, let text = message?.prefix(1024).lowercased() else { return nil }
        return Self.limitTexts.first { text.holds($0.text) }?.code
    }

    /// What the message says if there is no code and it speaks of a limit.
    var saidLimit: FacebookErrorRule? {
        saidCode.flatMap { FacebookErrorRule.product($0, nil) ?? FacebookErrorRule.limit($0) }
    }

    /// The permission that the message says is missing: the first one that it names.
    var permission: String? {
        guard let text = message?.prefix(1024), text.lowercased().holds("permission") else { return nil }
        let words = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }
        return words.map(String.init).first { word in
            guard word.utf8.count <= 128 else { return false }
            // What else is written with a line below, such as `user_id`, is a field.
            return word == "email" || (Self.permissionGroups.contains { word.hasPrefix($0) } && !word.hasSuffix("_id"))
        }
    }

    /// With what the names of permissions begin.
    private static let permissionGroups = [
        "user_", "pages_", "ads_", "instagram_", "whatsapp_", "business_", "catalog_", "leads_", "publish_", "read_",
        "manage_", "threads_",
    ]

    private static let limitTexts: [(text: String, code: Int)] = [
        ("application request limit reached", 4), ("user request limit reached", 17),
        ("page request limit reached", 32), ("calls to this api have exceeded the rate limit", 613),
        ("there have been too many calls from this", 80_000), ("rate limit hit", 130_429),
    ]

    /// Whether the error is one of WhatsApp's.
    var isOfWhatsApp: Bool { data?["messaging_product"]?.string == "whatsapp" }

    /// Whether the server says that trying again does not help, and tells the person why.
    var isFinal: Bool {
        guard isTransient == false else { return false }
        return userText != nil || [1_446_036, 1_965_014].contains(subnumber)
    }
}
