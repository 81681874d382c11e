import AuthRecovery
import HTTPRecovery

/// What a step asks a person for.
enum JourneyQuestions {
    /// The questions of a step, in order.
    static func of(_ step: JourneyStep) -> [JourneyQuestion] {
        let texts = shownTexts(step)
        // If a new password is asked for, the heading says why: that the old one has expired.
        let headings = [step.header, step.text].compactMap { $0?.bounded(to: 1024).withoutTags.nonEmpty }
        var questions: [JourneyQuestion] = []
        // Who signs in elsewhere needs no name and no password here, so that comes first.
        let callbacks = step.callbacks.enumerated()
        for (index, callback) in callbacks.filter(\.element.selectsProvider)
            + callbacks.filter({ !$0.element.selectsProvider })
        {
            for var question in Self.questions(about: callback, at: index, in: step, texts: texts) {
                let broken = callback.attribute?.failedPolicies.map(\.sentence) ?? []
                let lines = (question.key == .newPassword ? headings : []) + texts + broken
                question.hint = lines.joined(separator: "\n").bounded(to: 4096).nonEmpty
                questions.append(question)
            }
        }
        return questions
    }

    /// The texts that the step shows.
    static func shownTexts(_ step: JourneyStep) -> [String] {
        step.callbacks.prefix(32).compactMap { callback in
            guard case .textOutput(let message?, let kind) = callback.content, kind != .script else { return nil }
            return message.bounded(to: 1024)
        }
    }

    private static func questions(
        about callback: JourneyCallback,
        at index: Int,
        in step: JourneyStep,
        texts: [String]
    ) -> [JourneyQuestion] {
        func question(
            _ key: Factor.Key,
            _ form: JourneyQuestion.Form = .text,
            input: Int = 0,
            prompt: String? = nil,
            given: JourneyQuestion.Given? = nil
        ) -> [JourneyQuestion] {
            guard callback.inputNames.indices.contains(input) else { return [] }
            let place = JourneyQuestion.Place(callback: index, input: input)
            let prompt = (prompt ?? callback.prompt)?.bounded(to: 4096)
            let name = JourneyQuestion.Name(
                type: callback.type,
                stage: step.stage,
                prompt: prompt,
                // Texts may come and go in front of a question that stays the same.
                occurrence: step.callbacks[..<index].count { $0.type == callback.type },
                input: input
            )
            return [JourneyQuestion(place: place, name: name, key: key, form: form, prompt: prompt, given: given)]
        }
        switch callback.content {
        case .name(let prompt):
            let code = Factor.Key.code(namedBy: prompt, texts: texts)
            return question(code ?? .text, given: code == nil ? .identifier : nil)
        case .password(let prompt):
            if let code = Factor.Key.code(askedBy: prompt, texts: texts) { return question(code) }
            let asked = prompt?.lowercased() ?? ""
            let isNew = ["new password", "confirm password", "choose a password"].contains { asked.holds($0) }
            return isNew ? question(.newPassword) : question(.password, given: .password)
        case .textInput(let prompt, _):
            return question(Factor.Key.code(namedBy: prompt, texts: texts) ?? .text)
        case .choice(_, let choices, let defaultIndex):
            let options = choices.enumerated().map {
                (label: $0.element, value: JSONValue.number(JSONValue.Number($0.offset)))
            }
            return options.isEmpty ? [] : question(.choice, .options(options, defaultIndex: defaultIndex))
        case .selectIdentityProvider(let names):
            let options = names.map { (label: $0, value: JSONValue.string($0)) }
            let local = names.firstIndex(of: JourneyQuestion.localAuthentication)
            return options.isEmpty ? [] : question(.choice, .options(options, defaultIndex: local))
        case .terms, .consent:
            return question(.choice, .agreement)
        case .securityQuestion(let prompt, let predefined, let allowsOwn):
            let input = callback.index(ofInput: "question") ?? 0
            var options = predefined.map { (label: $0, value: JSONValue.string($0)) }
            if allowsOwn, !options.isEmpty { options.append((label: JourneyQuestion.own, value: .null)) }
            let asked = options.isEmpty ? JourneyQuestion.Form.text : .options(options, defaultIndex: nil)
            return question(options.isEmpty ? .text : .choice, asked, input: input, prompt: prompt)
                + question(.securityAnswer, input: callback.index(ofInput: "answer") ?? 1, prompt: prompt)
        case .booleanAttribute: return question(.choice, .agreement)
        case .numberAttribute: return question(.text, .number)
        case .stringAttribute: return question(.text)
        case .validatedUsername: return question(.text, given: .identifier)
        case .validatedPassword: return question(.newPassword)
        default: return []
        }
    }
}

extension JourneyCallback {
    fileprivate var selectsProvider: Bool {
        if case .selectIdentityProvider = content { true } else { false }
    }
}

extension JourneyQuestion {
    /// The question for the proof of a captcha, with what the server says of it.
    static func captcha(at index: Int, in step: JourneyStep) -> JourneyQuestion {
        let callback = step.callbacks[index]
        // The enterprise form has an input for each part.
        let place = Place(callback: index, input: callback.index(ofInput: "token") ?? 0)
        return JourneyQuestion(
            place: place,
            name: Name(type: callback.type, stage: step.stage, prompt: nil, occurrence: 0, input: place.input),
            key: .captcha,
            form: .text,
            hint: callback.told
        )
    }

    /// The question for the outcome of a WebAuthn ceremony.
    static func ceremony(at index: Int, in step: JourneyStep, options: String?) -> JourneyQuestion {
        let type = step.callbacks[index].type
        return JourneyQuestion(
            place: Place(callback: index, input: 0),
            name: Name(type: type, stage: step.stage, prompt: "webAuthnOutcome", occurrence: 0, input: 0),
            key: .webauthn,
            form: .ceremony,
            hint: options
        )
    }
}

extension JourneyQuestions {
    /// The confirmations of a step, which mostly stand beside something else: "Submit", "Send again", "Exit".
    static func confirmations(of step: JourneyStep) -> [JourneyQuestion] {
        step.callbacks.enumerated().compactMap { index, callback in
            guard case .confirmation(let prompt, let options, let defaultValue) = callback.content, !options.isEmpty,
                !callback.inputNames.isEmpty
            else { return nil }
            let place = JourneyQuestion.Place(callback: index, input: 0)
            return JourneyQuestion(
                place: place,
                name: JourneyQuestion.Name(
                    type: callback.type,
                    stage: step.stage,
                    prompt: prompt,
                    occurrence: step.callbacks[..<index].count { $0.type == callback.type },
                    input: 0
                ),
                key: .choice,
                form: .options(
                    options.map { (label: $0.label, value: JSONValue.number(JSONValue.Number($0.value))) },
                    defaultIndex: options.firstIndex { $0.value == defaultValue }
                ),
                prompt: prompt
            )
        }
    }
}

extension String {
    /// The text without the tags of HTML in it, and with single spaces.
    fileprivate var withoutTags: String {
        var text = ""
        var isInTag = false
        for character in self {
            switch character {
            case "<": isInTag = true
            case ">" where isInTag:
                isInTag = false
                text.append(" ")
            case _ where !isInTag: text.append(character)
            default: break
            }
        }
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
