import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

/// An authenticator with one answer.
final class Authenticator: WebAuthn.Authenticator {
    private let failure: WebAuthn.Failure?
    private let hangs: Bool
    private let asked = Locked<[WebAuthn.SigningRequest]>([])

    init(_ failure: WebAuthn.Failure? = nil, hangs: Bool = false) {
        self.failure = failure
        self.hangs = hangs
    }

    var requests: [WebAuthn.SigningRequest] { asked.withLock { $0 } }

    func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
        if let failure { throw failure }
        return WebAuthn.Attestation(
            credentialID: [4, 5],
            clientDataJSON: WebAuthn.ClientData(.create, challenge: request.challenge, origin: request.origin).json,
            attestationObject: [1, 2]
        )
    }

    func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
        asked.withLock { $0.append(request) }
        if hangs { try await Task.sleep(for: .seconds(86_400)) }
        if let failure { throw failure }
        return WebAuthn.Assertion(
            credentialID: [4, 5],
            clientDataJSON: WebAuthn.ClientData(.get, challenge: request.challenge, origin: request.origin).json,
            authenticatorData: [8],
            signature: [9],
            userHandle: [7, 6]
        )
    }
}
