import AuthRecovery
import HTTPRecovery

/// How somebody gets at their account again whose password is not taken any more: after too many wrong ones, or since it was
/// leaked.
enum Auth0Unlocking: String, CaseIterable {
    /// By the link of the mail that told them of the block.
    case mail = "blocked_account"
    /// By a new password that they have set by themselves since it was leaked.
    case changedPassword = "changed_password"
    /// By a new password, for which a mail is sent.
    case newPassword = "reset_password"

    init?(_ factor: Factor) {
        guard let way = Auth0Unlocking(rawValue: factor.providerName) else { return nil }
        self = way
    }

    /// The password, since it is what is asked for after it.
    func factor(of name: String) -> Factor {
        Factor(
            key: .password,
            providerName: rawValue,
            destination: self == .newPassword ? name : nil,
            // Where nobody chooses, no mail is sent.
            isDefault: self != .newPassword
        )
    }

    var prompt: String {
        switch self {
        case .mail: "Open the link in the e-mail that told you of the block; then enter your password."
        case .changedPassword: "Set a new password where you manage your account; then enter it."
        case .newPassword: "Set a new password by the link in the e-mail that was sent to you; then enter it."
        }
    }
}

extension Auth0SignInMachine {
    /// What lifts a block: the mail of it, or a new password where a mail can be sent.
    var unlockFactors: [Factor] {
        guard !identifier.isEmpty else { return [] }
        return [Auth0Unlocking.mail.factor(of: identifier)]
            + (hasMail ? [Auth0Unlocking.newPassword.factor(of: identifier)] : [])
    }

    /// What stands in for a password that was leaked, or replaces it.
    ///
    /// The tenant lets nobody in with it before it is changed. Its login page and an account's own page change it, whatever this
    /// app knows of connections; only to have a mail sent it has to know one.
    var leakFactors: [Factor] {
        let new: [Auth0Unlocking] = hasMail ? [.changedPassword, .newPassword] : [.changedPassword]
        return ways.filter { !$0.isSame(as: Self.passwordFactor) } + new.map { $0.factor(of: identifier) }
    }

    /// Whether a mail to set a new password can be sent.
    private var hasMail: Bool {
        api.configuration.realm != nil && Auth0Configuration.Passwordless.emailCode.reaches(identifier)
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
