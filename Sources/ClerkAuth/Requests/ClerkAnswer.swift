import AuthRecovery
import HTTPRecovery

/// An answer of Clerk's that was accepted.
struct ClerkAnswer: Sendable {
    /// The body; null if there was none.
    var json: JSONValue
    /// The response; nil if the answer was put together here.
    var response: RecoveredResponse?

    /// The sign-in that it is about.
    var signIn: ClerkSignIn? {
        for candidate in [json["response"], json, json["client"]?["sign_in"]] {
            if candidate?["object"]?.string.map({ $0.hasPrefix("sign_in") }) ?? true, candidate?["status"] != nil,
                let signIn = ClerkSignIn(candidate)
            {
                return signIn
            }
        }
        return nil
    }

    /// The client that it shows.
    var client: ClerkClient? { ClerkClient.find(in: json) }

    /// The error that the answer amounts to.
    func failure(
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        status: String? = nil,
        parameter: String? = nil
    ) -> RecoveryError {
        var error = RecoveryError(kind, remedies, in: response)
        if let status {
            error.outcome.statusType = status
            // The word of a status that nobody knows is all there is to go by.
            error.outcome.code = error.outcome.code ?? status
        }
        if let parameter { error.outcome.parameter = parameter }
        return error
    }
}
