import HTTPRecovery

/// The messages of the identity engine's answers: `messages` holds ION objects with a text for the person and a key.
struct OktaMessages {
    /// One message.
    struct Message {
        var key: String?
        var text: String?
        /// `ERROR`, `INFO` or another word.
        var severity: String?
        /// The field that it hangs on.
        var field: String?

        /// The error code that the key names, such as that of `errors.E0000004`.
        var code: String? {
            guard let last = key?.split(separator: ".").last.map(String.init), OktaEnvelope.isCode(last) else {
                return nil
            }
            return last.uppercased()
        }
    }

    /// The message that decides: the first error, else the first one.
    let decisive: Message

    /// Reads a body; nil if it has no messages.
    init?(_ body: JSONValue) {
        var found: [Message] = []
        Self.collect(body, field: nil, depth: 0, into: &found)
        guard let first = found.first(where: { $0.severity == "ERROR" }) ?? found.first else { return nil }
        decisive = first
    }

    /// Whether the message says that something has gone wrong.
    func isError(status: Int) -> Bool {
        decisive.severity == "ERROR" || status >= 400
    }

    /// What the message means; nil if its key is not known.
    func meaning(at endpoint: OktaEndpoint, presented: Outcome.CredentialKind?) -> OktaErrorRule? {
        if let code = decisive.code {
            var envelope = OktaEnvelope(code: code, summary: decisive.text)
            envelope.details = nil
            return OktaErrorRule.of(envelope, at: endpoint, presented: presented)
        }
        guard let key = decisive.key?.lowercased() else { return nil }
        return Self.meanings.first { key.contains($0.part) }?.meaning
    }

    private static let meanings: [(part: String, meaning: OktaErrorRule)] = [
        ("toomanyrequests", OktaErrorRule(.rateLimited, [.wait], scope: .origin)),
        ("session.expired", .refused(.state)),
        ("idx.expired", .refused(.state)),
        ("passcode_invalid", OktaErrorRule(.challengeIncorrect, [.askUser])),
        ("passcode.invalid", OktaErrorRule(.challengeIncorrect, [.askUser])),
        ("otp.invalid", OktaErrorRule(.challengeIncorrect, [.askUser])),
        ("answer_invalid", OktaErrorRule(.challengeIncorrect, [.askUser])),
        ("incorrectpassword", OktaErrorRule(.invalidCredentials, [.askUser])),
        ("passwordrequirements", OktaErrorRule(.passwordRejected, [.askUser])),
        ("password.requirement", OktaErrorRule(.passwordRejected, [.askUser])),
        ("error_locked", OktaErrorRule(.accountLocked, [.unlock, .contactAdmin], scope: .account)),
        ("account.locked", OktaErrorRule(.accountLocked, [.unlock, .contactAdmin], scope: .account)),
        ("access_denied", OktaErrorRule(.permissionDenied, [.contactAdmin])),
        ("authfactor.webauthn.error", OktaErrorRule(.factorUnavailable, [.switchFactor])),
    ]

    private static func collect(_ value: JSONValue, field: String?, depth: Int, into found: inout [Message]) {
        guard depth < 8, found.count < 32 else { return }
        if let messages = value["messages"] {
            for entry in (messages["value"]?.array ?? messages.array ?? []).prefix(16) {
                let message = Message(
                    key: entry["i18n"]?["key"]?.string?.nonEmpty?.bounded(to: 256),
                    text: entry["message"]?.string?.nonEmpty?.bounded(to: 4096),
                    severity: entry["class"]?.string?.uppercased().bounded(to: 32),
                    field: field
                )
                if message.key != nil || message.text != nil { found.append(message) }
            }
        }
        // Remediations hold forms, forms hold fields, and each may have messages of its own.
        for name in ["remediation", "value", "form"] {
            guard let inner = value[name] else { continue }
            for entry in inner.array?.prefix(32) ?? [inner] {
                collect(entry, field: entry["name"]?.string?.bounded(to: 256) ?? field, depth: depth + 1, into: &found)
            }
        }
    }
}

extension OktaEnvelope {
    /// An error that a message stands for.
    fileprivate init(code: String, summary: String?) {
        self.code = code
        self.summary = summary
        self.causes = []
        self.details = nil
    }
}
