import HTTPRecovery

/// What an answer of the identity engine came to: its messages decide, then what its forms want, whatever the status is.
///
/// An error beside a form is an answer that was not taken; without a form the flow is over, and every message, a kind
/// one too, says how.
struct OktaEngineInterpretation {
    private let okta: OktaInterpretation
    private let body: JSONValue
    private let messages: [OktaMessages.Message]
    /// The names of the forms that the answer offers, the best first.
    private let forms: [String]
    /// The link for a browser with which the flow has ended, for want of a form: `success-redirect` or another.
    private let ending: String?

    /// Nil for what is no answer of the engine's: it is told by its version or its members, never by its type.
    ///
    /// Of an outage only an error says more than the status does: its forms may be those of before.
    init?(_ okta: OktaInterpretation, _ body: JSONValue) {
        let members = ["stateHandle", "remediation", "messages", "successWithInteractionCode", "success"]
        guard members.contains(where: { body[$0]?.isNull == false }),
            okta.endpoint.isIdentityEngine || body["version"]?.string != nil
        else { return nil }
        self.okta = okta
        self.body = body
        messages = OktaMessages(body)?.all ?? []
        let entries = (body["remediation"]?["value"]?.array ?? []).prefix(32)
        forms = entries.filter { !Self.isEnding($0) }.compactMap { $0["name"]?.string?.bounded(to: 256) }
        ending = entries.first(where: Self.isEnding)?["name"]?.string
        if okta.status >= 500, !messages.contains(where: \.isError) { return nil }
    }

    var outcome: Outcome {
        var outcome = judged
        let end = ending ?? body["successWithInteractionCode"]?["name"]?.string?.bounded(to: 256)
        outcome.statusType = forms.first ?? end
        return outcome
    }

    private var judged: Outcome {
        if !isOutage, body["successWithInteractionCode"]?.isNull == false { return okta.failure(.ok) }
        let errors = messages.filter(\.isError)
        if let error = errors.first(where: { meaning(of: $0) != nil }) ?? errors.first {
            return self.outcome(of: error)
        }
        if let told = messages.first(where: { meaning(of: $0) != nil }) { return self.outcome(of: told) }
        guard forms.isEmpty else { return live }
        if let message = messages.first { return self.outcome(of: message) }
        if endpoint.endsFlow { return ended }
        let isSuccess = body["success"]?.isNull == false || ending == Self.endings.first
        return isSuccess ? okta.failure(.ok) : okta.failure(.unknown, [.restartFlow])
    }

    /// The links to which a browser is sent at the end, the one after a success first.
    private static let endings = ["success-redirect", "failure-redirect"]

    /// Whether an entry is one of those links: what has no `rel` is no form to be posted.
    private static func isEnding(_ entry: JSONValue) -> Bool {
        entry["rel"] == nil && endings.contains(entry["name"]?.string ?? "")
    }

    private var endpoint: OktaEndpoint { okta.endpoint }

    private var isOutage: Bool { okta.status >= 500 }

    /// A flow that was ended on purpose, mostly with the first step of another one.
    private var ended: Outcome {
        var outcome = okta.failure(.ok)
        if okta.presented == .state { outcome.tokenAction = .clear }
        return outcome
    }

    // MARK: Messages

    private func meaning(of message: OktaMessages.Message) -> OktaErrorRule? {
        var rule: OktaErrorRule?
        // Whatever it says: that proof is of no use.
        if message.isError, message.field?.hasPrefix("captchaVerify") == true {
            return OktaErrorRule(.challengeIncorrect, [.askUser])
        }
        if let code = message.code {
            rule = Self.codes[code] ?? okta.rule(for: code, text: message.text)
        } else {
            rule = message.key.flatMap(OktaMessageKeys.meaning)
        }
        guard var rule else { return nil }
        // Of a password that is more than one way in.
        if message.key?.lowercased().hasSuffix("suspended_factor") == true, isAboutPassword {
            rule = OktaErrorRule(.accountLocked, rule.remedies, scope: .account)
        }
        if rule.kind == .accountLocked, rule.remedies.contains(.unlock) {
            rule.remedies = offersUnlock ? [.unlock] : [.contactAdmin]
            rule.clears = []
        }
        if forms.isEmpty, rule.kind == .challengeExpired, rule.remedies.first == .restartFlow {
            rule.remedies = [.restartFlow]
        }
        return rule
    }

    /// Codes that mean something else here than at the Authentication API.
    private static let codes: [String: OktaErrorRule] = [
        "E0000009": OktaErrorRule(.unavailable, [.resync]),
        // A new PIN was set; the next code is wanted.
        "E0000113": OktaErrorRule(.continue, [.askUser]),
        "E0000119": OktaErrorRule(.accountLocked, [.unlock], scope: .account),
        // Text messages and calls to this person.
        "E0000150": OktaErrorRule(.factorUnavailable, [.switchFactor]),
        "E0000151": OktaErrorRule(.factorUnavailable, [.switchFactor]),
    ]

    private var offersUnlock: Bool { forms.contains { $0.hasSuffix("unlock-account") } }

    private var isAboutPassword: Bool {
        ["currentAuthenticator", "currentAuthenticatorEnrollment"].contains {
            body[$0]?["value"]?["type"]?.string == "password"
        }
    }

    private func outcome(of message: OktaMessages.Message) -> Outcome {
        var outcome = meaning(of: message).map { okta.outcome(of: $0) } ?? withoutMeaning
        okta.describe(&outcome, message)
        return outcome
    }

    /// A message that nobody knows: what is offered tells what can be done, and the status of an outage what happened.
    private var withoutMeaning: Outcome {
        isOutage ? okta.byStatus : okta.failure(.unknown, forms.isEmpty ? [.restartFlow] : [.askUser])
    }

    // MARK: Forms

    /// What a live answer wants.
    private var live: Outcome {
        if endpoint.endsFlow { return ended }
        if body["captcha"]?.isNull == false, wantsCaptcha { return okta.failure(.challengeRequired, [.solveChallenge]) }
        let name = forms[0]
        guard let want = Self.wants.first(where: { $0.names.contains(name) }) else {
            if name.hasPrefix("select-authenticator-") { return okta.failure(.continue, [.switchFactor]) }
            return okta.failure(.continue, [.askUser, .restartFlow])
        }
        // Links to other pages are all that there is, or one way among others.
        if want.kind == .userActionRequired, want.remedies == [.visitProvider],
            let other = forms.first(where: { !want.names.contains($0) })
        {
            return Self.wants.first { $0.names.contains(other) }.map { okta.failure($0.kind, $0.remedies) }
                ?? okta.failure(.continue, [.askUser])
        }
        var outcome = okta.failure(want.kind, want.remedies)
        if want.remedies == [.poll] { outcome.retryAfter = Self.pause(body["remediation"]?["value"]?[0]) }
        // The mail may have a link beside its code: whichever comes first counts.
        if ["challenge-authenticator", "enroll-authenticator"].contains(name), let poll {
            outcome.remedies.append(.poll)
            outcome.retryAfter = Self.pause(poll)
        }
        return outcome
    }

    private typealias Want = (names: Set<String>, kind: Outcome.Kind, remedies: [Outcome.Remedy])

    private static let wants: [Want] = [
        (
            [
                "identify", "identify-recovery", "select-identify", "enroll-profile", "enroll-profile-update",
                "profile-update", "user-code", "challenge-authenticator", "enroll-authenticator",
                "authenticator-verification-data", "authenticator-enrollment-data", "enrollment-channel-data",
                "select-enrollment-channel", "keep-me-signed-in",
            ], .continue, [.askUser]
        ),
        (["challenge-poll", "enroll-poll", "poll", "device-challenge-poll"], .continue, [.poll]),
        (["reenroll-authenticator"], .passwordExpired, [.changePassword]),
        (["reenroll-custom-password-expiry"], .passwordExpired, [.visitProvider]),
        (
            ["reenroll-authenticator-warning", "reenroll-custom-password-expiry-warning", "reset-authenticator"],
            .continue, [.changePassword]
        ),
        (["redirect-idp", "launch-authenticator", "piv-idp"], .userActionRequired, [.visitProvider]),
        (["consent", "admin-consent", "granular-consent", "email-challenge-consent"], .userActionRequired, [.askUser]),
    ]

    /// The pause between two questions, which a form states in milliseconds.
    private static func pause(_ form: JSONValue?) -> Duration? {
        form?["refresh"]?.number.map { max(.zero, $0.seconds / 1000) }
    }

    /// What asks whether somebody has answered elsewhere, beside the form for the answer; nil if nothing does.
    private var poll: JSONValue? {
        ["currentAuthenticatorEnrollment", "currentAuthenticator"].lazy
            .compactMap { body[$0]?["value"]?["poll"] }.first { !$0.isNull }
    }

    private var wantsCaptcha: Bool {
        (body["remediation"]?["value"]?.array ?? []).prefix(32).contains { form in
            (form["value"]?.array ?? []).prefix(64).contains { $0["name"]?.string?.hasPrefix("captchaVerify") == true }
        }
    }
}
