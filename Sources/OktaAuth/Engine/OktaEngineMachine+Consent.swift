import AuthRecovery
import HTTPRecovery

/// What the person is asked beside their proofs: Okta Verify on their device, and what an app may do.
extension OktaEngineMachine {
    /// Shows the address that opens Okta Verify, if somebody wants that, and waits for it; otherwise goes on without it.
    ///
    /// Where a page in a browser would speak to the app by itself, the server is told that nobody does; it may then name an
    /// address.
    mutating func ask(
        _ device: OktaDeviceChallenge,
        _ answer: OktaEngineAnswer,
        _ form: OktaForm
    ) async throws -> SignInStep<OktaSession> {
        if wantsDevice, device.url != nil { return try await awaitPush(answer, form) }
        guard let cancel = device.cancel else {
            // There is no way around it but those beside.
            let others = wantsDevice ? [] : alternatives(answer)
            if !others.isEmpty { return .choose(others) }
            if device.url != nil { return try await awaitPush(answer, form) }
            throw unreachable(device, answer)
        }
        return try await post(cancel, resend: .replayable)
    }

    /// Okta Verify has to confirm, and nobody here can reach it: says so, and how it goes on.
    func unreachable(_ device: OktaDeviceChallenge?, _ answer: OktaEngineAnswer) -> RecoveryError {
        let isOnlyWay = alternatives(answer).isEmpty
        var error = failure(.factorUnavailable, [isOnlyWay ? .contactAdmin : .switchFactor, .visitProvider])
        error.outcome.code = device?.method ?? error.outcome.statusType
        error.outcome.userMessage =
            "Okta Verify on this device has to confirm the sign-in, and only a page in a browser can reach it there. "
            + (isOnlyWay
                ? "Please sign in in a browser, or ask your administrator for another way."
                : "Please choose another way, or sign in in a browser.")
        return error
    }

    static let consents: Set<String> = ["consent", "admin-consent", "granular-consent", "email-challenge-consent"]
    static let consentID = "consent"

    /// Asks whether an app may do what it wants, or whether it is the person who signs in elsewhere.
    func consent(_ form: OktaForm, _ answer: OktaEngineAnswer) -> SignInStep<OktaSession> {
        let factor = Factor(key: .text, providerName: form.name, id: Self.consentID)
        let app = answer.body["app"]?["value"]?["label"]?.string?.nonEmpty ?? "An app"
        let wishes = form.wishes.joined(separator: "; ")
        let isElsewhere = form.name == "email-challenge-consent"
        let question = (isElsewhere ? "Is it you who signs in: " : "\(app) asks for your consent: ") + wishes
        let scopes = form.scopesToChoose
        let hint =
            scopes.isEmpty
            ? "yes or no" : "yes, no, or the names of what you allow: " + scopes.joined(separator: ", ")
        return .ask(Challenge(factor: factor, hint: hint.bounded(to: 4096), prompt: question.bounded(to: 4096)))
    }

    /// Tells the server what the person has decided; a no ends the sign-in.
    mutating func submit(consent text: Secret, to challenge: Challenge) async throws -> SignInStep<OktaSession> {
        guard let answer, let form = answer.form(challenge.factor.providerName) else { throw missing("consent") }
        // Neither a yes nor a no: nothing is decided.
        guard let decision = form.decision(text.reveal()) else { throw failure(.invalidRequest, [.askUser]) }
        let isGiven = decision["consent"] == true
        var body = form.body(base(answer).merging(decision) { $1 })
        // The server takes it whether its form says so or not.
        if body["consent"] == nil, let members = body.members {
            body = .object(members + [.init("consent", .bool(isGiven))])
        }
        if isGiven { return try await take { try await $0.post(form, body, resend: .spending) } }
        let refusal = failure(.declined)
        do {
            _ = try await api.post(form, body, resend: .spending)
        } catch is RecoveryError {
            // However it says so: it is over.
            try Task.checkCancellation()
        }
        (self.answer, interaction) = (nil, nil)
        throw refusal
    }
}

extension OktaForm {
    /// What a form of consent names: the scopes by their labels, or what is known of who signs in elsewhere.
    fileprivate var wishes: [String] {
        let options = fields.flatMap { field in field.options.compactMap(\.label) + field.fields.compactMap(\.title) }
        return (information + options).filter { !["Allow", "Deny"].contains($0) }
    }

    private static let scopes = "optedScopes"

    /// The scopes that are given one by one; those that an app cannot do without are not among them.
    fileprivate var scopesToChoose: [String] {
        (self[Self.scopes]?.fields ?? []).filter { $0.isMutable && $0.type == "boolean" }.map(\.name)
    }

    /// What an answer decides, as the form's values: all, nothing, or some of the scopes by their names; nil if it is none of
    /// these.
    fileprivate func decision(_ text: String) -> [String: JSONValue]? {
        if let isGiven = Self.truth(text) { return ["consent": .bool(isGiven)] }
        let chosen = text.split { $0 == "," || $0.isWhitespace }.map(String.init)
        let scopes = scopesToChoose
        guard !chosen.isEmpty, chosen.allSatisfy(scopes.contains) else { return nil }
        var values: [String: JSONValue] = ["consent": true]
        for scope in scopes { values["\(Self.scopes).\(scope)"] = .bool(chosen.contains(scope)) }
        return values
    }
}

extension OktaForm.Field {
    fileprivate var title: String? { label ?? name }
}
