import AuthRecovery
import HTTPRecovery

/// Answers callbacks whose answer does not depend on the person.
struct JourneyDefaults: Sendable {
    /// Describes this installation to those who collect that.
    let profile: DeviceProfile
    /// Binds this device, and signs with its keys.
    let keys: DeviceKeyResponder

    /// A callback with its answer, or as it is.
    ///
    /// - Throws: `RecoveryError` for what cannot be done here at all, such as a redirect that leads nowhere.
    func answered(_ callback: JourneyCallback, in step: JourneyStep) async throws -> JourneyCallback {
        var callback = callback
        switch callback.content {
        case .deviceBinding: try await keys.bind(&callback)
        case .deviceSigningVerifier: try await keys.sign(&callback)
        case .appIntegrity:
            // The word that takes the node to the outcome for devices that cannot do it.
            callback.setInput("Unsupported", named: "clientError")
        case .protectInitialize, .protectEvaluation:
            callback.setInput(Self.noSignals, named: "clientError")
        case .hidden(let id?, _) where step.wantsSignals && id.lowercased().holds("clienterror"):
            callback.setInput(Self.noSignals)
        case .deviceProfile(let wantsMetadata, let wantsLocation, _):
            callback.setInput(
                .string(try await profile.text(wantsMetadata: wantsMetadata, wantsLocation: wantsLocation))
            )
        case .redirect(let redirect) where redirect.url == nil:
            throw Self.failure(Outcome(.userActionRequired, processed: .yes, remedies: [.visitProvider]), in: step)
        default:
            break
        }
        return callback
    }

    private static let noSignals: JSONValue = "PingOne Protect is not available on this platform"

    /// What it means that nobody has an answer to a callback: nothing is sent in its place.
    ///
    /// - Parameter isAskedAgain: Whether it stood beside questions that were answered, and all of them come again: then it may also
    ///   be the answers that were refused.
    static func unknown(
        _ callback: JourneyCallback,
        in step: JourneyStep,
        isAskedAgain: Bool = false
    ) -> RecoveryError {
        let type = callback.type.loggable ?? "a callback without a type"
        var outcome = Outcome(.challengeRequired, processed: .yes, remedies: [.solveChallenge])
        outcome.parameter = type
        outcome.details = ["callbackType": .string(type)]
        outcome.userMessage =
            callback.content == .certificate
            ? "The service wants a client certificate, which the connection has to bring along (\(type))."
            : isAskedAgain
                ? "The service asks the same again: the answers were wrong, or it wants something else that this program has no answer to: \(type)."
                : "The service asks for something that this program has no answer to: \(type)."
        return failure(outcome, in: step)
    }

    private static func failure(_ outcome: Outcome, in step: JourneyStep) -> RecoveryError {
        var outcome = outcome
        outcome.statusType = step.stage?.bounded(to: 256)
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }
}

extension JourneyStep {
    /// Whether the step is one of PingOne Protect.
    fileprivate var wantsSignals: Bool {
        callbacks.contains { $0.content == .protectInitialize || $0.content == .protectEvaluation }
    }
}

extension JourneyCallback {
    /// Whether it wants something that nobody here can know.
    var isUnanswerable: Bool {
        switch content {
        case .other, .certificate, .http: !inputNames.isEmpty
        default: false
        }
    }

    /// Hands in a person's answer: the proof alone, or in JSON with what it was solved for, by the names of the inputs.
    mutating func answerCaptcha(with answer: JSONValue) {
        let text = answer.string ?? ""
        guard let parts = try? JSONValue(parsing: text), let token = parts["token"]?.string else {
            answerCaptcha(with: text)
            return
        }
        answerCaptcha(with: token, action: parts["action"]?.string)
        if let payload = parts["payload"] { setInput(.string(payload.string ?? payload.description), named: "payload") }
    }

    /// Hands in the proof of a captcha that was solved elsewhere.
    ///
    /// - Parameters:
    ///   - token: What the captcha's script has given.
    ///   - action: The action that it was solved for, if the captcha knows such.
    /// - Returns: Whether the callback takes one.
    @discardableResult
    public mutating func answerCaptcha(with token: String, action: String? = nil) -> Bool {
        guard case .reCaptcha = content, !inputNames.isEmpty else { return false }
        // The enterprise form has an input for each part.
        if !setInput(.string(token), named: "token") { setInput(.string(token)) }
        if let action { setInput(.string(action), named: "action") }
        return true
    }
}
