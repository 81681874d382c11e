import HTTPRecovery

extension SandboxScenario {
    /// The people who are there for Okta's sake; elsewhere their password is enough.
    static func oktaUsers(
        _ person: (String, String, (inout SandboxUser) -> Void) -> SandboxUser
    ) -> [SandboxUser] {
        let secret = "JBSWY3DPEHPK3PXP"
        return [
            person("frances@example.com", "Frances") {
                $0.okta.passwordStatus = "expired"
                $0.okta.factors = [.init("token:software:totp")]
                $0.totpSecret = secret
                $0.secondFactors = []
            },
            person("whitfield@example.com", "Whitfield") { $0.okta.passwordStatus = "warn" },
            person("hedy@example.com", "Hedy") { $0.okta.factors = [.push("WAITING", "WAITING", "SUCCESS")] },
            person("niklaus@example.com", "Niklaus") { $0.okta.factors = [.push("WAITING", "REJECTED")] },
            person("tim@example.com", "Tim") { $0.okta.factors = [.push("WAITING", "TIMEOUT")] },
            person("vint@example.com", "Vint") {
                $0.okta.factors = [.push("WAITING", "WAITING", "SUCCESS", number: "42")]
            },
            person("donald@example.com", "Donald") {
                $0.phones = ["+12015550101"]
                $0.secondFactors = []
                $0.initialLock = .indefinite
                $0.okta.showsLockout = true
                $0.okta.recoveryQuestion = "Which volume is next?"
                $0.okta.recoveryAnswer = "seven"
            },
            person("shafi@example.com", "Shafi") {
                $0.okta.factors = [.init("webauthn"), .init("token:software:totp")]
                $0.totpSecret = secret
                $0.secondFactors = []
            },
            person("leslie@example.com", "Leslie") {
                $0.okta.enrollments = [.init("sms"), .init("question", isRequired: false)]
            },
            person("jean+clerk_test@example.com", "Jean") {
                $0.phones = ["+12015550102"]
                $0.totpSecret = secret
                $0.secondFactors = []
                $0.okta.factors = [
                    .init("question"), .init("sms"), .init("email"), .init("token:software:totp"),
                ]
            },
        ]
    }
}
