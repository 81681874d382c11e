import AuthRecovery
import HTTPRecovery

/// An authenticator whose credentials have the right form, and signatures that nobody could verify.
final class PaperKey: WebAuthn.Authenticator {
    private struct State {
        var handles: [[UInt8]: [UInt8]] = [:]
        var counter: UInt8 = 0
    }

    private let state: Locked<State>
    /// What goes wrong; nil for nothing.
    private let failure: WebAuthn.Failure?

    /// - Parameter known: The ids of the credentials that it has.
    init(_ known: [UInt8]..., failing failure: WebAuthn.Failure? = nil) {
        state = Locked(State(handles: Dictionary(uniqueKeysWithValues: known.map { ($0, []) })))
        self.failure = failure
    }

    func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
        if let failure { throw failure }
        guard request.algorithms.contains(-7), request.residentKey == .required else {
            throw WebAuthn.Failure.constraint()
        }
        let id = Array("key of \(request.user.name)".utf8)
        state.withLock { $0.handles[id] = request.user.id }
        let key: [UInt8] =
            [0xA5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32] + [UInt8](repeating: 1, count: 32) + [0x22, 0x58, 32]
            + [UInt8](repeating: 2, count: 32)
        let data =
            authenticatorData(request.relyingPartyID, flags: 0x45, counter: 0) + [UInt8](repeating: 0, count: 16)
            + [0, UInt8(id.count)] + id + key
        var object: [UInt8] = [0xA3, 0x63] + Array("fmt".utf8) + [0x64] + Array("none".utf8)
        object += [0x67] + Array("attStmt".utf8) + [0xA0, 0x68] + Array("authData".utf8) + [0x58, UInt8(data.count)]
        return WebAuthn.Attestation(
            credentialID: id,
            clientDataJSON: WebAuthn.ClientData(.create, challenge: request.challenge, origin: request.origin).json,
            attestationObject: object + data
        )
    }

    func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
        if let failure { throw failure }
        let (entry, counter) = state.withLock { state in
            state.counter += 1
            return (state.handles.first, state.counter)
        }
        guard let entry else { throw WebAuthn.Failure.notAllowed() }
        return WebAuthn.Assertion(
            credentialID: entry.key,
            clientDataJSON: WebAuthn.ClientData(.get, challenge: request.challenge, origin: request.origin).json,
            authenticatorData: authenticatorData(request.relyingPartyID, flags: 0x05, counter: counter),
            signature: [0x30, 6, 2, 1, 1, 2, 1, 1],
            userHandle: entry.value.isEmpty ? nil : entry.value
        )
    }

    private func authenticatorData(_ party: String, flags: UInt8, counter: UInt8) -> [UInt8] {
        SHA256.hash(Array(party.utf8)) + [flags, 0, 0, 0, counter]
    }
}
