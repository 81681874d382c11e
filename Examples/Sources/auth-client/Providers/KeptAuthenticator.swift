import AuthRecovery
import CommandLineSupport
import Glibc
import HTTPRecovery
import WebAuthnTesting

/// A security key in software whose credentials are kept in a file, for trying journeys that want one.
struct KeptAuthenticator: WebAuthn.Authenticator {
    private let path: String
    private let authenticator: SoftwareAuthenticator

    /// Takes up the file's credentials; without a file there are none yet.
    init(path: String) throws {
        self.path = path
        guard unsafe access(path, F_OK) == 0 else {
            authenticator = SoftwareAuthenticator()
            return
        }
        let text = String(decoding: try StandardInput.contents(of: path), as: UTF8.self)
        do {
            authenticator = try SoftwareAuthenticator(restoring: Secret(text))
        } catch {
            throw InputError("--software-key: \(path) holds no keys of this program")
        }
    }

    func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
        let attestation = try await authenticator.register(request)
        try save()
        return attestation
    }

    func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
        let assertion = try await authenticator.sign(request)
        // Its counter has gone on.
        try save()
        return assertion
    }

    private func save() throws {
        let file = try AtomicFile(path, mode: 0o600)
        try file.write(Array(authenticator.export().reveal().utf8)[...])
        try file.commit()
    }
}
