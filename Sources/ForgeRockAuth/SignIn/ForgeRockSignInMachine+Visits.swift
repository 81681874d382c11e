import AuthRecovery
import HTTPRecovery

// Visits to other sites, from which a browser comes back with an answer.
extension ForgeRockSignInMachine {
    /// Adds what a browser has to be sent elsewhere for to what the step asks, as the last of it.
    mutating func askForVisits(in current: JourneyStep, except isAnswered: Set<Int>) throws {
        for (index, callback) in current.callbacks.enumerated() where !isAnswered.contains(index) {
            switch callback.content {
            case .redirect(let redirect):
                guard let url = redirect.url else { continue }
                asked.append(.visit(to: Secret(url), at: index, in: current, hint: nil))
            case .identityProvider(let name):
                // Without an endpoint the program knows where to go, by what the server says, or nobody does.
                let url = name.flatMap { identityProviders[$0] }.map { authorizationURL(of: callback, at: $0) }
                asked.append(
                    .visit(to: url, at: index, in: current, hint: url == nil ? callback.told : nil, prompt: name)
                )
            default: break
            }
        }
    }

    /// Adds the proofs that are wanted, behind all questions: they last for minutes.
    mutating func askForProofs(in current: JourneyStep, except isAnswered: Set<Int>) {
        for (index, callback) in current.callbacks.enumerated() where !isAnswered.contains(index) {
            if case .reCaptcha = callback.content, !callback.inputNames.isEmpty {
                asked.append(.captcha(at: index, in: current))
            }
        }
    }

    /// Where a browser begins a sign-in at an identity provider, as the callback describes it.
    private func authorizationURL(of callback: JourneyCallback, at endpoint: String) -> Secret {
        var query = FormFields()
        query.add("response_type", "code")
        let outputs = [
            ("client_id", "clientId"), ("redirect_uri", "redirectUri"), ("nonce", "nonce"), ("request", "request"),
            ("request_uri", "requestUri"),
        ]
        for (name, output) in outputs { query.add(name, callback[output: output]?.string?.nonEmpty) }
        for (name, output) in [("scope", "scopes"), ("acr_values", "acrValues")] {
            let words = callback[output: output]?.array?.prefix(64).compactMap(\.string).joined(separator: " ")
            query.add(name, words?.nonEmpty)
        }
        query.add("state", Base64.encodeForURL(defaults.profile.random.bytes(16)))
        return Secret("\(endpoint)\(endpoint.holds("?") ? "&" : "?")\(query.encoded)")
    }

    /// Goes on with where a browser came back.
    ///
    /// - Throws: `RecoveryError` of the kind `invalid_request`, with nothing sent, for what is no answer to this visit: so the
    ///   person can bring the right one.
    mutating func comeBack(
        with answer: Secret,
        to question: JourneyQuestion
    ) async throws -> SignInStep<ForgeRockSession> {
        guard let callback = step?.callbacks[question.place.callback] else { return try await begin() }
        let fields = Self.fields(of: answer.reveal())
        // Whoever made the URL without us compares the state without us.
        let expected = question.url.flatMap { Self.fields(of: $0.reveal())["state"].first }
        guard fields["state"].count < 2, expected == nil || fields["state"].first == expected else {
            throw Self.refusal(.invalidRequest, parameter: "state")
        }
        // Against RFC 6749 section 3.1: somebody may have added one.
        if let doubled = ["code", "error", "iss"].first(where: { fields[$0].count > 1 }) {
            throw Self.refusal(.invalidRequest, parameter: doubled)
        }
        var returned = FormFields()
        for name in Self.returnedNames { for value in fields[name] { returned.add(name, secret: value) } }
        let isProvider = if case .identityProvider = callback.content { true } else { false }
        let token = Self.token(in: fields, asJSON: callback[output: "acceptsJSON"]?.bool == true)
        let isAnswer = isProvider ? token != nil || fields["error"].first != nil : !returned.names.isEmpty
        guard isAnswer else { throw Self.refusal(.invalidRequest, parameter: "redirect") }
        answered.insert(question.place)
        if isProvider {
            guard let (token, kind) = token else {
                var error = Self.refusal(.declined)
                error.outcome.code = fields["error"].first?.reveal().bounded(to: 256)
                error.outcome.remedies = [.visitProvider]
                throw error
            }
            step?.callbacks[question.place.callback].setInput(.string(token.reveal()), named: "token")
            step?.callbacks[question.place.callback].setInput(.string(kind), named: "token_type")
            returned = FormFields()
        }
        if let session = try await send(with: returned) { return .finished(session) }
        return try await proceed()
    }

    /// What a provider has given, and how the server calls its kind.
    ///
    /// - Parameter takesJSON: Whether the server takes the answer as a whole, which tells of the person too: Apple does that
    ///   once, beside the first token, and whoever hands on the token alone loses it.
    private static func token(in fields: FormFields, asJSON takesJSON: Bool) -> (Secret, String)? {
        if takesJSON, let user = fields["user"].first.flatMap({ try? JSONValue(parsing: $0.reveal()) }),
            user.members?.isEmpty == false, token(in: fields, asJSON: false) != nil
        {
            let texts = ["code", "id_token", "state"].compactMap { name in
                fields[name].first.map { JSONValue.Member(name, .string($0.reveal())) }
            }
            return (Secret(JSONValue.object(texts + [JSONValue.Member("user", user)]).description), "JSON")
        }
        for (name, kind) in [
            ("code", "authorization_code"), ("id_token", "id_token"), ("access_token", "access_token"),
        ] {
            if let token = fields[name].first, !token.isEmpty { return (token, kind) }
        }
        return nil
    }

    /// What a server may have sent along, by OAuth, OpenID Connect or SAML.
    private static let returnedNames = [
        "code", "state", "iss", "scope", "nonce", "error", "error_description", "errorCode", "errorMessage",
        "form_post_entry", "responsekey", "RelayState",
    ]

    /// The fields of a URL's query, and of its fragment; or of an answer in JSON, as a program has it that asked by itself.
    private static func fields(of answer: String) -> FormFields {
        if let members = (try? JSONValue(parsing: answer))?.members {
            var fields = FormFields()
            for member in members.prefix(256) { fields.add(member.key, member.value.formText) }
            return fields
        }
        let bytes = answer.bounded(to: 65_536).utf8
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.firstIndex(of: UInt8(ascii: "#"))
        guard let mark else { return FormFields() }
        let parts = bytes[bytes.index(after: mark)...].split(separator: UInt8(ascii: "#"))
        return FormFields(parsing: Array(parts.joined(separator: "&".utf8)))
    }
}

extension JourneyCallback {
    /// What a browser has to post where it is sent; nil where the address alone leads there.
    var redirectForm: FormFields? {
        guard case .redirect(let redirect) = content, redirect.method.lowercased() == "post" else { return nil }
        var form = FormFields()
        for member in (redirect.data?.members ?? []).prefix(256) { form.add(member.key, member.value.formText) }
        return form
    }
}

extension JSONValue {
    /// The value as a field of a form has it: a text as it is, anything else in JSON; nil for nothing.
    fileprivate var formText: String? { isNull ? nil : string ?? description }
}

extension JourneyQuestion {
    /// The question for where a browser came back.
    fileprivate static func visit(
        to url: Secret?,
        at index: Int,
        in step: JourneyStep,
        hint: String?,
        prompt: String? = nil
    ) -> JourneyQuestion {
        let type = step.callbacks[index].type
        let occurrence = step.callbacks[..<index].count { $0.type == type }
        return JourneyQuestion(
            place: Place(callback: index, input: 0),
            name: Name(type: type, stage: step.stage, prompt: prompt, occurrence: occurrence, input: 0),
            key: .redirect,
            form: .redirect,
            prompt: prompt,
            hint: hint,
            url: url
        )
    }
}

extension JourneyStep {
    /// What nobody here has an answer to, unless the step waits for something anyway.
    var unanswerable: JourneyCallback? {
        waitsForNothing ? callbacks.first(where: \.isUnanswerable) : nil
    }

    /// What wanted an answer that it had not, where the same is asked again without a word about the answers: beside the questions
    /// of a step, since a server that misses something looks at nothing else; or in a step that went back as it came.
    ///
    /// - Parameter answered: What was answered in it.
    func unknown(leftOpenIn former: JourneyStep, except answered: Set<JourneyQuestion.Place>) -> JourneyCallback? {
        guard stage == former.stage, callbacks.map(\.type) == former.callbacks.map(\.type),
            JourneyQuestions.shownTexts(self) == JourneyQuestions.shownTexts(former)
        else { return nil }
        if answered.isEmpty, former.callbacks.allSatisfy(\.isUntouched), waitsForNothing {
            return callbacks.first(where: \.isUnanswerable) ?? callbacks.first { !$0.inputNames.isEmpty }
                ?? callbacks.first
        }
        guard unanswerable != nil else { return nil }
        return callbacks.enumerated().first { index, callback in
            callback.isUnanswerable && !answered.contains { $0.callback == index }
        }?.element
    }

    /// Whether nothing in the step is waited for, so that one which went back as it came does not change by itself.
    private var waitsForNothing: Bool {
        callbacks.allSatisfy { callback in
            if case .suspended = callback.content { return false }
            return callback.pollingWait == nil && !callback.isWebAuthnOutcome
        }
    }
}

extension JourneyCallback {
    /// What the server says along with the callback, in JSON.
    var told: String? { JSONValue.object(outputs).description.bounded(to: 8192) }
}
