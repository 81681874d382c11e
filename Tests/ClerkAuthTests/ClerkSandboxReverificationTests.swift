import AuthRecovery
import AuthSandbox
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What the server does by itself and a script only plays: it wants people to prove themselves again, and sends late.
@Suite("Clerk's sensitive actions and late messages at the sandbox")
struct ClerkSandboxReverificationTests {
    // MARK: Sensitive actions

    private typealias Action = @Sendable (Clerk, (any ChallengeResponder)?) async throws -> Void

    /// What somebody does about their account, by the first request of it.
    private static let actions: [(route: String, action: Action)] = [
        ("POST me/totp", { clerk, person in _ = try await clerk.createTOTP(answering: person) }),
        ("DELETE me/totp", { clerk, person in try await clerk.removeTOTP(answering: person) }),
        ("POST me/backup_codes", { clerk, person in _ = try await clerk.createBackupCodes(answering: person) }),
        (
            "POST me/phone_numbers",
            { clerk, person in _ = try await clerk.addPhoneNumber("+4930123999", answering: person) }
        ),
        (
            "DELETE me/phone_numbers/{id}",
            { clerk, person in
                let me = try await clerk.send(ProviderRequest(.get, path: "/v1/me"), answering: nil).json()
                let id = me["response"]?["phone_numbers"]?[0]?["id"]?.string
                try await clerk.removePhoneNumber(#require(id), answering: person)
            }
        ),
        ("POST me/passkeys", send("/v1/me/passkeys", [:])),
        (
            "POST me/sessions/{id}/revoke",
            { clerk, person in
                let session = try await clerk.sessionsOnAllDevices().first
                try await clerk.revoke(sessionID: #require(session).id, answering: person)
            }
        ),
        ("POST me/change_password", send("/v1/me/change_password", ["new_password": "correct horse battery"])),
        ("POST me/email_addresses", send("/v1/me/email_addresses", ["email_address": "new@example.com"])),
        (
            "DELETE me",
            { clerk, person in _ = try await clerk.send(ProviderRequest(.delete, path: "/v1/me"), answering: person)
            }
        ),
    ]

    private static func send(_ path: String, _ form: FormFields) -> Action {
        { clerk, person in
            _ = try await clerk.send(
                ProviderRequest(.post, path: path, body: .form(form), resend: .spending),
                answering: person
            )
        }
    }

    @Test(arguments: actions.indices)
    func somethingSensitiveIsDoneBehindAnotherProofOnce(index: Int) async throws {
        let (route, action) = Self.actions[index]
        func staleBench() async throws -> ClerkSandboxBench {
            let bench = try ClerkSandboxBench({ $0.phones = ["+4930123456"] })
            _ = try await bench.signIn(SandboxPerson(bench))
            bench.clock.advance(by: .seconds(700))
            return bench
        }
        let bench = try await staleBench()
        let person = SandboxPerson(bench, [.password: [ClerkSandboxBench.password]], choosing: ["password"])
        try await bench.clock.skippingWaits { try await action(bench.clerk, person) }
        #expect(person.keys == [.password] && bench.count(route) == 2)
        let verified = bench.routes.filter { $0.contains("/verify") }
        #expect(
            verified == [
                "POST client/sessions/{id}/verify", "POST client/sessions/{id}/verify/attempt_first_factor",
            ]
        )
        // Nobody to ask: the caller hears what is wanted, and nothing is sent again.
        let other = try await staleBench()
        let error = await #expect(throws: RecoveryError.self) { try await action(other.clerk, nil) }
        #expect(error?.kind == .stepUpRequired && other.count(route) == 1)
        #expect(error?.outcome.code == "session_reverification_required")
    }

    /// Who is fresh is asked for nothing.
    @Test(arguments: actions.indices) func whoIsFreshIsNotAsked(index: Int) async throws {
        let (route, action) = Self.actions[index]
        let bench = try ClerkSandboxBench({ $0.phones = ["+4930123456"] })
        _ = try await bench.signIn(SandboxPerson(bench))
        let person = SandboxPerson(bench)
        try await bench.clock.skippingWaits { try await action(bench.clerk, person) }
        #expect(person.keys.isEmpty && bench.count(route) == 1)
    }

    /// The task of a session that is not fresh any more is finished behind another proof.
    @Test func aTaskOfAnOldSessionIsFinishedBehindAnotherProof() async throws {
        let bench = try ClerkSandboxBench({ $0.tasks = ["setup-mfa"] }, settings: { $0.freshFor = 0 })
        let person = SandboxPerson(bench, [.password: [ClerkSandboxBench.password]], choosing: ["totp", "password"])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(person) }
        // Nothing is ever fresh here: it is proved once, and not for ever.
        #expect(error?.kind == .stepUpRequired && person.keys == [.password] && bench.count("POST me/totp") == 2)
    }

    // MARK: Late messages

    /// The code is answered before its message has left: it is waited for, and nothing is counted.
    @Test(arguments: [(0, 1), (2, 2), (5, 3)] as [(Int64, Int)])
    func aMessageThatLeavesLateIsWaitedFor(delay: Int64, rounds: Int) async throws {
        let bench = try ClerkSandboxBench(
            {
                $0.phones = ["+4930123456"]
                $0.secondFactors = ["phone_code"]
            },
            settings: { $0.smsDelay = delay * 1000 }
        )
        let person = SandboxPerson(bench)
        #expect(try await bench.signIn(person).status == .active)
        #expect(person.keys == Array(repeating: .phoneCode, count: rounds) && bench.failures == 0)
        #expect(bench.count("POST client/sign_ins/{id}/attempt_second_factor") == rounds)
        #expect(bench.count("POST client/sign_ins/{id}/prepare_second_factor") == 1)
    }

    @Test func aMessageThatNeverLeavesEndsIt() async throws {
        let bench = try ClerkSandboxBench(
            {
                $0.phones = ["+4930123456"]
                $0.secondFactors = ["phone_code"]
            },
            settings: { $0.smsDelay = 3_600_000 }
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(SandboxPerson(bench)) }
        #expect(error?.kind == .challengePending && error?.outcome.code == "sms_verification_not_yet_sent")
        #expect(bench.count("POST client/sign_ins/{id}/attempt_second_factor") == 3 && bench.failures == 0)
    }

    @Test func aSignUpATaskAndAReverificationWaitForTheirMessages() async throws {
        let newcomers = try ClerkSandboxBench(settings: { $0.smsDelay = 2000 })
        let request = ClerkSignUpRequest(
            emailAddress: "new@example.com",
            phoneNumber: "+4930123999",
            password: "correct horse battery"
        )
        let newcomer = SandboxPerson(newcomers, choosing: ["phone_code"])
        _ = try await newcomers.clock.skippingWaits {
            try await newcomers.clerk.signUp(request, answering: newcomer)
        }
        #expect(newcomer.keys.count { $0 == .phoneCode } == 2)
        let tasks = try ClerkSandboxBench({ $0.tasks = ["setup-mfa"] }, settings: { $0.smsDelay = 2000 })
        let caller = SandboxPerson(tasks, [.phoneNumber: ["+4930123999"]], choosing: ["phone_number"])
        #expect(try await tasks.signIn(caller).status == .active)
        #expect(caller.keys == [.phoneNumber, .phoneCode, .phoneCode])
        let old = try ClerkSandboxBench({ $0.phones = ["+4930123456"] }, settings: { $0.smsDelay = 2000 })
        _ = try await old.signIn(SandboxPerson(old))
        let again = SandboxPerson(old, choosing: ["phone_code"])
        _ = try await old.clock.skippingWaits { try await old.clerk.reverify(answering: again) }
        #expect(again.keys == [.phoneCode, .phoneCode])
    }
}
