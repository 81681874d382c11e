extension Factor.Key {
    /// What is asked for, in words for a person, such as `Code by e-mail`.
    public var title: String {
        switch self {
        case .password: "Password"
        case .emailCode: "Code by e-mail"
        case .phoneCode: "Code by phone"
        case .emailLink: "Address that the link in the e-mail leads to"
        case .totp: "Code of the authenticator app"
        case .backupCode: "Backup code"
        case .newPassword: "New password"
        case .choice: "Choice"
        case .securityAnswer, .text: "Answer"
        case .webauthn: "Outcome of the security key"
        case .push: "Confirmation on the other device"
        case .phoneNumber: "Phone number"
        case .redirect: "Address at which the browser came back"
        case .captcha: "Proof that the captcha gave"
        }
    }

    /// Whether nobody should see the answer while it is typed.
    public var isHidden: Bool {
        self == .password || self == .newPassword || self == .securityAnswer
    }
}

extension Challenge {
    /// What to ask the person, in a few words: the provider's own (``prompt``) where only it can say what is asked for, else the
    /// title of the key, with where a code was sent to.
    ///
    /// The provider's words are as they came, with a mark at their end or none: whoever shows them at a terminal or on a page
    /// escapes them.
    public var question: String {
        let isInOwnWords = key == .text || key == .choice || key == .securityAnswer
        if isInOwnWords, let prompt, !prompt.isEmpty { return prompt }
        guard key.isSent, let destination = factor.destination else { return key.title }
        return "\(key.title) sent to \(destination)"
    }
}
