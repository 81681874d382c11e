import AuthRecovery
import HTTPRecovery

/// How somebody gets at their account again that was blocked after too many passwords.
enum Auth0Unlocking: String, CaseIterable {
    /// By the link of the mail that told them of the block.
    case mail = "blocked_account"
    /// By a new password, for which a mail is sent.
    case newPassword = "reset_password"

    init?(_ factor: Factor) {
        guard let way = Auth0Unlocking(rawValue: factor.providerName) else { return nil }
        self = way
    }

    /// The password, since it is what is asked for after it.
    func factor(of name: String) -> Factor {
        Factor(key: .password, providerName: rawValue, destination: self == .newPassword ? name : nil)
    }

    var prompt: String {
        switch self {
        case .mail: "Open the link in the e-mail that told you of the block; then enter your password."
        case .newPassword: "Set a new password by the link in the e-mail that was sent to you; then enter it."
        }
    }
}

extension Auth0SignInMachine {
    /// What lifts a block: the mail of it, or a new password where a mail can be sent.
    var unlockFactors: [Factor] {
        guard !identifier.isEmpty else { return [] }
        let hasMail = api.configuration.realm != nil && Auth0Configuration.Passwordless.emailCode.reaches(identifier)
        return Auth0Unlocking.allCases.filter { $0 == .mail || hasMail }.map { $0.factor(of: identifier) }
    }

    func unlock(_ way: Auth0Unlocking) async throws -> SignInStep<Auth0Session> {
        if way == .newPassword {
            // What the lock holds back is passwords.
            var free = api
            free.account = nil
            try await free.sendPasswordReset(email: identifier, connection: nil)
        }
        return .ask(Challenge(factor: way.factor(of: identifier), prompt: way.prompt))
    }

    func forgetLockout() async {
        guard let account = api.account else { return }
        await LockoutLedger(runtime: api.client.runtime, origin: api.base.origin).forget(account)
    }
}
