import AuthRecovery
import HTTPRecovery

/// Answers the hidden callback of a WebAuthn ceremony, on success and on failure.
struct WebAuthnResponder: Sendable {
    let authenticator: (any WebAuthn.Authenticator)?
    /// Whether somebody else carries out ceremonies if there is no authenticator, such as a browser.
    let isAsked: Bool
    /// What a new credential is called at the server.
    let deviceName: String?
    /// The origin that ceremonies are carried out for.
    let origin: Origin
    let time: TimeSource

    /// What a ceremony came to.
    struct Result {
        /// What goes back to the server.
        var outcome: String
        /// Why it failed; nil if it did not.
        var error: WebAuthn.Failure?
    }

    /// Performs the ceremony of a step; nil if the step takes no outcome of one.
    ///
    /// - Throws: `CancellationError` alone: whatever else goes wrong, the server is told.
    func outcome(for step: JourneyStep) async throws -> Result? {
        guard step.callbacks.contains(where: \.isWebAuthnOutcome) else { return nil }
        guard let authenticator else {
            let error = WebAuthn.Failure.unsupported()
            return Result(outcome: error.webAuthnOutcome, error: error)
        }
        do {
            let success = try await perform(ceremony(in: step), with: authenticator)
            return Result(outcome: success.outcome(for: step))
        } catch let error as WebAuthn.Failure {
            return Result(outcome: error.webAuthnOutcome, error: error)
        }
    }

    /// The ceremony of a step, complete.
    func ceremony(in step: JourneyStep) -> WebAuthnCeremony {
        step.webAuthn?.completed(for: origin) ?? .unreadable
    }

    private func perform(
        _ ceremony: WebAuthnCeremony,
        with authenticator: any WebAuthn.Authenticator
    ) async throws -> WebAuthnSuccess {
        switch ceremony {
        case .registration(let request):
            WebAuthnSuccess(try await authenticator.register(request, on: time), deviceName: deviceName)
        case .authentication(let request): WebAuthnSuccess(try await authenticator.sign(request, on: time))
        case .unreadable: throw WebAuthn.Failure.badData(message: "the ceremony cannot be read")
        }
    }
}
