import AuthRecovery
import HTTPRecovery

extension SignInContext {
    /// Waits until an authenticator app shows its next code: each is good for half a minute (RFC 6238 section 5.2).
    func waitForNextCode() async throws {
        let window: Int64 = 30
        let now = operation.context.runtime.time.wallTime.secondsSinceEpoch
        let left = window - ((now % window) + window) % window
        try await wait(.seconds(left), reason: .challengeIncorrect)
    }
}

extension Outcome {
    /// Whether a code was right, but used before or of another time.
    var isOfAnotherWindow: Bool {
        let codes: Set<String> = ["E0000082", "E0000083", "authfactor.challenge.soft_token.used_passcode"]
        let results: Set<String> = ["PASSCODE_REPLAYED", "TIME_WINDOW_EXCEEDED"]
        return (code.map(codes.contains) ?? false) || (factorResult.map(results.contains) ?? false)
    }
}
