import AuthRecovery
import HTTPRecovery

/// Forms with several fields, such as those about a person: each field is a question in the server's words.
extension OktaEngineMachine {
    /// Takes what was typed into a field; what the field does not take is asked for again.
    ///
    /// Nothing leaves a field out that need not be filled in.
    mutating func submit(entry text: Secret, to challenge: Challenge) async throws -> SignInStep<OktaSession> {
        guard let standing = answer else { throw missing("form") }
        let name = challenge.factor.providerName
        guard let form = standing.forms.first(where: { name.hasPrefix("\($0.name)/") }) else {
            return try await follow(standing)
        }
        let path = Self.path(name, in: form)
        guard let field = form[path] else { return try await follow(standing) }
        let isLeftOut = text.isEmpty && !field.isRequired
        guard isLeftOut || !text.isEmpty && field.value(of: text.reveal()) != nil else {
            var error = failure(.invalidRequest, [.askUser])
            error.outcome.parameter = path
            throw error
        }
        entries[name] = text
        return try await fill(form, typedLast: path)
    }

    /// Asks for each field of a form, in the server's words; posts it with the last one.
    ///
    /// What need not be filled in is asked for where the app wants what is optional.
    mutating func fill(_ form: OktaForm, typedLast: String? = nil) async throws -> SignInStep<OktaSession> {
        let open = paths(of: form)
        if let path = open.first(where: { entries["\(form.name)/\($0)"] == nil }) { return .ask(question(path, form)) }
        // What was typed stays until it is posted.
        if let question = unsolved(form) { return question }
        var values: [String: JSONValue] = [:]
        for path in open {
            guard let text = entries["\(form.name)/\(path)"], !text.isEmpty else { continue }
            values[path] = form[path]?.value(of: text.reveal())
        }
        let typed = entries
        entries = [:]
        let sends = form.name == Self.channelData
        do {
            return try await post(form, values, resend: .spending, purpose: sends ? .engineSending : .engine)
        } catch let error as RecoveryError where error.remedies.first == .askUser {
            guard let standing = answer?.form(form.name) else { throw error }
            // The refused field alone is asked for again; where none is named, all are.
            let parameter = error.outcome.parameter ?? ""
            let refused = form[parameter].flatMap {
                $0.isMutable && $0.isVisible && $0.fields.isEmpty ? parameter : nil
            }
            let isOfProof = parameter.hasPrefix("captchaVerify")
            if refused != nil || isOfProof {
                for path in open where path != refused && form[path]?.isSecret != true {
                    entries["\(form.name)/\(path)"] = typed["\(form.name)/\(path)"]
                }
            }
            guard !isOfProof, let next = refused ?? open.first, next != typedLast else { throw error }
            await context?.notice(error.outcome)
            var question = question(next, standing)
            question.previousFailure = error.outcome
            return .ask(question)
        }
    }

    /// The paths of the fields that are asked for, and of those that were, because what stood there was refused.
    private func paths(of form: OktaForm) -> [String] {
        let open = form.openPaths(withOptional: api.configuration.enrollsOptionalFactors)
        let typed = entries.keys.filter { $0.hasPrefix("\(form.name)/") }.map { Self.path($0, in: form) }
        return open + typed.filter { !open.contains($0) }.sorted()
    }

    private static func path(_ entry: String, in form: OktaForm) -> String {
        String(decoding: entry.utf8.dropFirst(form.name.utf8.count + 1), as: UTF8.self)
    }

    /// The question for a field.
    private func question(_ path: String, _ form: OktaForm) -> Challenge {
        let field = form[path]
        let isPassword = path.hasSuffix("passcode") && form.name.hasPrefix("enroll-")
        let isNumber = form.name == Self.channelData && path.hasSuffix("phoneNumber")
        let key: Factor.Key = isPassword ? .newPassword : isNumber ? .phoneNumber : .text
        let factor = Factor(key: key, providerName: "\(form.name)/\(path)", id: "entry/\(path)")
        return Challenge(factor: factor, hint: hint(for: field, isPassword: isPassword), prompt: field?.label ?? path)
    }

    /// What an answer has to be like: one of several, a yes or a no, as the rules for passwords say; and whether it may be
    /// none.
    private func hint(for field: OktaForm.Field?, isPassword: Bool) -> String? {
        let choices = (field?.choices ?? []).compactMap { $0.label ?? $0.name }.joined(separator: ", ").nonEmpty
        let rules = isPassword ? answer?.current?.passwordRules : nil
        let kind = choices ?? (field?.isBoolean == true ? "yes or no" : rules)
        let isOptional = field?.isRequired == false
        let parts = [kind, isOptional ? "may be left empty" : nil].compactMap(\.self)
        return parts.joined(separator: "; ").nonEmpty?.bounded(to: 4096)
    }
}
