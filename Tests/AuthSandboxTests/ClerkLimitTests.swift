import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Clerk: lockouts and rate limits")
struct ClerkLimitTests {
    private func remaining(_ client: Harness) -> JSONValue? {
        client.errors.first?["meta"]?["lockout_expires_in_seconds"]
    }

    @Test func theThirdFailureLocksAndTheTimeLeftRunsDown() {
        var client = Harness()
        for expected in ["form_password_incorrect", "form_password_incorrect", "user_locked"] {
            client.signIn("margaret@example.com", "wrong")
            #expect(client.code == expected)
        }
        #expect(client.status == 403 && remaining(client) == 5)
        client.now += 3001
        client.signIn("margaret@example.com")
        #expect(client.code == "user_locked" && remaining(client) == 2)
        client.now += 1998
        client.signIn("margaret@example.com")
        #expect(remaining(client) == 1)
        client.now += 1
        #expect(client.signIn("margaret@example.com")["status"] == "complete")
    }

    @Test func failuresAreForgottenBySuccessAndByTheEndOfTheLock() {
        var client = Harness()
        client.signIn("margaret@example.com", "wrong")
        client.signIn("margaret@example.com", "wrong")
        client.signIn("margaret@example.com")
        client.call("DELETE", "client")
        for _ in 0..<2 {
            client.signIn("margaret@example.com", "wrong")
            #expect(client.code == "form_password_incorrect")
        }
        client.signIn("margaret@example.com", "wrong")
        #expect(client.code == "user_locked")
        client.advance(seconds: 5)
        client.signIn("margaret@example.com", "wrong")
        #expect(client.code == "form_password_incorrect")
    }

    @Test func everyKindOfAttemptCosts() {
        var client = Harness { $0.lockout.threshold = 2 }
        let id = client.signIn("grace@example.com")["id"]?.string ?? ""
        for (strategy, code) in [("totp", "form_code_incorrect"), ("backup_code", "user_locked")] {
            client.call(
                "POST",
                "client/sign_ins/\(id)/attempt_second_factor",
                ["strategy": strategy, "code": "000000"]
            )
            #expect(client.code == code)
        }
        client.call("POST", "client/sign_ins/\(id)/attempt_second_factor", ["strategy": "totp", "code": "000000"])
        #expect(client.status == 403 && client.code == "user_locked")
        // Nobody else is harmed, and whoever has a session keeps it.
        #expect(client.signIn("ada@example.com")["status"] == "complete")
    }

    @Test func theTimeLeftAsTheSettingsWriteIt() {
        for (format, expected) in [("number", .int(3600)), ("string", "3600"), ("absent", nil)]
            as [(String, JSONValue?)]
        {
            var client = Harness {
                $0.lockout.threshold = 1
                $0.lockout.format = format
            }
            client.signIn("ada@example.com", "wrong")
            #expect(client.code == "user_locked" && remaining(client) == expected)
        }
    }

    @Test func lockedForGood() {
        var client = Harness()
        client.signIn("ken@example.com")
        #expect(client.status == 403 && client.code == "user_locked" && remaining(client) == nil)
        client.advance(seconds: 100_000_000)
        _ = client.begin("ken@example.com")
        #expect(client.code == "user_locked")
        client.control("POST", "unlock", #"{"user": "ken@example.com"}"#)
        #expect(client.signIn("ken@example.com")["status"] == "complete")
    }

    @Test func warningsBeforeTheLock() {
        var client = Harness {
            $0.lockout.threshold = 4
            $0.lockout.warns = true
        }
        let expected = [
            ["form_password_incorrect"],
            ["form_password_incorrect", "account_lockout_warning"],
            ["form_password_incorrect", "account_lockout_warning"],
            ["form_password_incorrect", "account_lockout_warning"],
            ["user_locked"],
        ]
        for codes in expected {
            client.signIn("ada@example.com", "wrong")
            #expect(client.errors.compactMap { $0["code"]?.string } == codes)
        }
    }

    @Test func zeroNeverLocks() {
        var client = Harness { $0.lockout.threshold = 0 }
        for _ in 0..<30 { client.signIn("ada@example.com", "wrong") }
        #expect(client.code == "form_password_incorrect")
    }

    @Test func fiveSignInsInTenSeconds() {
        var client = Harness(.standard)
        for second in 0..<5 {
            client.signIn("ada@example.com", "wrong")
            #expect(client.status == 422, "\(second)")
            client.advance(seconds: 1)
        }
        client.signIn("ada@example.com")
        #expect(client.status == 429 && client.code == "too_many_requests")
        #expect(client.answer.header("Retry-After") == "5")
        // Nothing was counted against the account, and other endpoints are open.
        #expect(client.control("GET", "users")["users"]?[0]?["failures"] == 5)
        client.call("GET", "client")
        #expect(client.status == 200)
        client.advance(seconds: 4)
        client.signIn("ada@example.com")
        #expect(client.status == 429 && client.answer.header("Retry-After") == "1")
        client.advance(seconds: 1)
        #expect(client.signIn("ada@example.com")["status"] == "complete")
    }

    @Test func threeAttemptsInTenSecondsForBothFactorsTogether() {
        var client = Harness(.standard)
        let id = client.begin("grace@example.com")
        for password in ["wrong", Harness.password] {
            client.call(
                "POST",
                "client/sign_ins/\(id)/attempt_first_factor",
                ["strategy": "password", "password": password]
            )
        }
        for status in [422, 429] {
            client.call(
                "POST",
                "client/sign_ins/\(id)/attempt_second_factor",
                ["strategy": "totp", "code": "000000"]
            )
            #expect(client.status == status)
        }
    }

    @Test func limitsAreCountedPerAddress() {
        var client = Harness(.standard)
        for number in 0..<12 {
            client.send(
                SandboxRequest(
                    method: "POST",
                    target: "/v1/client/sign_ins?_is_native=1",
                    headers: [
                        .init(name: "content-type", value: "application/x-www-form-urlencoded"),
                        .init(name: "authorization", value: ""),
                    ],
                    body: Array("identifier=ada@example.com".utf8),
                    peer: "127.0.0.\(number % 3)"
                )
            )
            #expect(client.status == 200)
        }
    }
}
