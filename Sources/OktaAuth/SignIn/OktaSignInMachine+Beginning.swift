import AuthRecovery
import HTTPRecovery

/// How a transaction begins: with a name and a password, with a name alone, or with a recovery.
extension OktaSignInMachine {
    static let passwordFactor = Factor(key: .password, providerName: "password")

    /// The ways to reach a person who cannot sign in.
    static func ways(_ recovery: OktaAPI.Recovery) -> [Factor] {
        let id = "recovery/\(recovery.rawValue)"
        let call = recovery == .password ? [Factor(key: .phoneCode, providerName: "CALL", id: id)] : []
        return [
            Factor(key: .emailCode, providerName: "EMAIL", id: id),
            Factor(key: .phoneCode, providerName: "SMS", id: id),
        ] + call
    }

    static func recovery(_ id: String) -> OktaAPI.Recovery? {
        id.hasPrefix("recovery/") ? OktaAPI.Recovery(rawValue: String(id.dropFirst("recovery/".count))) : nil
    }

    /// Begins with the name and a password; without one the org may have another factor stand in its place.
    mutating func authenticate(_ password: Secret?) async throws -> SignInStep<OktaSession> {
        // A transaction that wants the password goes on with it.
        let step: OktaStep<OktaCredentials>? =
            if case .unauthenticated(let waiting) = state { waiting.authenticate } else { nil }
        if step == nil { state = nil }
        sent = []
        self.password = password
        let credentials = OktaCredentials(username: identifier, password: password)
        do {
            return try await follow { api in
                if let step { return try await step.perform(api.completed(credentials)) }
                return try await api.authenticate(credentials)
            }
        } catch let error as RecoveryError where error.kind == .invalidCredentials && (state == nil || step != nil) {
            self.password = nil
            throw error
        }
    }

    mutating func recover(
        _ what: OktaAPI.Recovery,
        via type: OktaFactorType
    ) async throws -> SignInStep<OktaSession> {
        let request = OktaRecoveryRequest(username: identifier, via: type)
        if what == .password { password = nil }
        recovery = (isOpen: true, hasRedeemed: false)
        // The link that came with the lock, if there is one.
        if what == .unlock, case .lockedOut(let locked) = state, let unlock = locked.unlock {
            return try await follow { _ in try await unlock.perform(request) }
        }
        return try await follow { try await $0.recover(what, request) }
    }
}
