import AuthRecovery
import AuthSandbox
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

/// P6 to P10.
extension OktaPromises {
    @Suite struct P6ClearOnlyWhatWasRefused {
        private static let faults: [SandboxFault] = {
            let kinds: [(SandboxFault.Kind, Int?, String?)] = [
                (.status, 500, nil), (.status, 503, nil), (.status, 429, nil), (.status, 408, nil), (.html, 401, nil),
                (.html, 502, nil), (.empty, 500, nil), (.truncate, nil, nil), (.resetBefore, nil, nil),
                (.garbage, nil, nil), (.status, 401, "E0009999"), (.status, 403, "E0000006"),
                (.status, 401, "E0000015"),
            ]
            return kinds.map { kind, status, code in
                var fault = SandboxFault(kind, path: "/api/v1/users/me", times: 0)
                fault.status = status
                fault.errorCode = code
                return fault
            }
        }()

        @Test(arguments: faults.indices) func whatIsNoRefusalClearsNothing(index: Int) async throws {
            try await OktaLine.run {
                Recovery(maxAttempts: 2, maxWait: .seconds(1))
            } body: { line in
                try await line.signIn()
                line.sandbox.add(Self.faults[index])
                await #expect(throws: RecoveryError.self) { try await line.okta.send(path: "/api/v1/users/me") }
                #expect(await line.tokens.read().credentials.sessionID != nil)
                line.sandbox.clearFaults()
                // After a limit the org is left alone for its time.
                if Self.faults[index].status != 429 { #expect(try await line.okta.session() != nil) }
            }
        }

        @Test func whatIsRefusedIsClearedAndNothingElse() async throws {
            try await OktaLine.run { line in
                try await line.signIn()
                try await line.tokens.update { $0.refreshToken = "other" }
                line.sandbox.endOktaSessions()
                await #expect(throws: RecoveryError.self) { try await line.okta.send(path: "/api/v1/users/me") }
                let left = await line.tokens.read().credentials
                #expect(left.sessionID == nil && left.refreshToken == "other")
            }
        }

        @Test(arguments: [429, 500, 503]) func anOutageOfTheTokenEndpointSignsNobodyOut(status: Int) async throws {
            try await OktaLine.run(app: OktaLine.app) {
                Recovery(maxAttempts: 2, maxWait: .seconds(1))
            } body: { line in
                try await line.signIn()
                try line.sandbox.revokeTokens(accessOnly: true)
                let before = await line.tokens.read().credentials
                var fault = SandboxFault(.envelope, path: "/oauth2/v1/token", times: 0)
                fault.status = status
                fault.envelope = "C"
                fault.errorCode = "invalid_grant"
                line.sandbox.add(fault)
                await #expect(throws: RecoveryError.self) { try await line.okta.send(path: "/api/v1/users/me") }
                let after = await line.tokens.read().credentials
                #expect(after.refreshToken == before.refreshToken)
            }
        }
    }

    @Suite struct P7BoundedAmplification {
        @Test func anOutageIsNotAnsweredWithAStorm() async throws {
            try await OktaLine.run {
                Recovery { TransientRetry(backoff: .exponential(base: .milliseconds(1), cap: .milliseconds(2))) }
            } body: { line in
                try await line.signIn()
                let before = line.count
                var fault = SandboxFault(.status, path: "/api/v1/users/me", times: 0)
                fault.status = 503
                line.sandbox.add(fault)
                let calls = 100
                for _ in 0..<calls { _ = try? await line.okta.send(path: "/api/v1/users/me") }
                let sent = line.count - before
                #expect(sent > calls)
                #expect(Double(sent) <= Double(calls) * 1.2 + 10)
            }
        }

        /// While the org is out of order, the push is asked about ever more seldom.
        @Test func aPollSurvivesAnOutageWithFewRequests() async throws {
            try await OktaLine.run {
                Recovery(maxAttempts: 1)
            } body: { line in
                var outage = SandboxFault(.status, path: "/api/v1/authn", times: 2)
                outage.status = 503
                outage.skip = 2
                line.sandbox.add(outage)
                try await line.signIn("vint@example.com")
                #expect(line.sandbox.oktaPushes() == 1)
                #expect(line.count <= 9)
            }
        }
    }

    @Suite struct P8CancellationIsPrompt {
        private func cancelled(_ line: OktaLine, at beginning: String, _ name: String) async throws {
            let task = Task { try await line.signIn(name) }
            try await line.event(beginning)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }

        @Test func itEndsAHang() async throws {
            try await OktaLine.run { line in
                line.sandbox.add(SandboxFault(.hang, path: "/api/v1/authn", times: 0))
                try await cancelled(line, at: "attempt", "ada@example.com")
                #expect(line.events.words.contains("done cancelled 1"))
                #expect(!line.events.words.contains { $0.hasPrefix("failure") })
            }
        }

        @Test func itEndsTheWaitForAPush() async throws {
            try await OktaLine.run(Bench.person([.push()])) { line in
                try await cancelled(line, at: "wait challenge_pending", Bench.eva)
                #expect(line.sandbox.oktaPushes() == 1)
            }
        }

        @Test func itEndsTheWaitForALimit() async throws {
            try await OktaLine.run { line in
                line.sandbox.updateSettings { $0.okta.resets = [40] }
                var fault = SandboxFault(.status, path: "/api/v1/authn")
                fault.status = 429
                line.sandbox.add(fault)
                try await cancelled(line, at: "wait rate_limited", "ada@example.com")
                #expect(line.count == 1)
            }
        }
    }

    @Suite struct P9SecretsStaySecret {
        @Test func noErrorAndNoEventHoldsOne() async throws {
            try await OktaLine.run { line in
                let code = Secret(try #require(line.sandbox.oktaTOTP(for: "grace@example.com")))
                var seen = ""
                var planted = ["open-sesame-42", code.reveal()]
                let faults: [(SandboxFault.Kind, String)] = [
                    (.resetAfter, "/api/v1/authn"), (.html, "*/verify"), (.truncate, "*/verify"),
                    (.empty, "/api/v1/sessions"), (.garbage, "/api/v1/sessions"), (.latency, "/none"),
                ]
                for (kind, path) in faults {
                    line.sandbox.clearFaults()
                    line.sandbox.add(SandboxFault(kind, path: path))
                    do {
                        seen += "\(try await line.signIn("grace@example.com", [.totp: [.text(code)]]))"
                    } catch {
                        seen += "\(error) \(String(reflecting: error))"
                    }
                    planted += line.sandbox.oktaSecrets
                }
                for event in line.events.events {
                    switch event.kind {
                    case .attempt(_, let method, let url, _): seen += "\(method) \(url) "
                    default: seen += event.kind.words + " "
                    }
                }
                #expect(planted.count > 5)
                for secret in planted { #expect(!seen.contains(secret)) }
            }
        }

        /// The state token goes to nobody else, whatever the answers say.
        @Test func noLinkAndNoRedirectLeadsElsewhere() async throws {
            try await OktaLine.run { line in
                let other = try await AuthSandbox.start(scenario: .unlimited)
                defer { other.stop() }
                var redirect = SandboxFault(.status, path: "/api/v1/authn")
                redirect.status = 307
                redirect.headers = ["Location": other.url + "/api/v1/authn"]
                line.sandbox.add(redirect)
                await #expect(throws: RecoveryError.self) { try await line.signIn() }
                var lure = SandboxFault(.status, path: "/api/v1/authn")
                lure.status = 200
                lure.body = """
                    {"stateToken": "00x", "status": "PASSWORD_EXPIRED", "_links": {"next": {"name": "changePassword",
                     "href": "\(other.url)/api/v1/authn/credentials/change_password"}}}
                    """
                line.sandbox.add(lure)
                let error = await #expect(throws: RecoveryError.self) {
                    try await line.signIn("ada@example.com", [.newPassword: [.text("correct-horse-7")]])
                }
                #expect(error?.cause as? OktaLinkError == .foreignOrigin)
                #expect(other.requests().isEmpty)
            }
        }
    }

    @Suite struct P10HostileInputIsBounded {
        private static let bodies: [String] = [
            String(repeating: "[", count: 200_000), #"{"status": "#, "null", "\u{0}\u{1}", "{}", #"{"status": 7}"#,
            #"{"status": "MFA_REQUIRED", "_embedded": {"factors": [7, {}, {"factorType": ""}]}}"#,
            #"{"status": "SUCCESS", "sessionToken": ""}"#,
            #"{"status": "MFA_CHALLENGE", "stateToken": "s", "factorResult": "WAITING", "_links": {"next": {"name": "poll", "href": "::"}}}"#,
            "{\"status\": \"" + String(repeating: "A", count: 500_000) + "\"}",
        ]

        @Test(arguments: bodies.indices, [200, 401, 429, 503])
        func anyBodyEndsInATypedError(index: Int, status: Int) async throws {
            try await OktaLine.run {
                Recovery(maxAttempts: 1, maxWait: .zero)
            } body: { line in
                var fault = SandboxFault(.status, path: "/api/v1/", times: 0)
                fault.status = status
                fault.body = Self.bodies[index]
                line.sandbox.add(fault)
                let error = await #expect(throws: (any Error).self) { try await line.signIn() }
                // A readable 401 is about the password, and nobody has another one.
                #expect(error is RecoveryError || (status == 401 && error is Challenge.NoAnswer))
                #expect(line.count <= 4)
            }
        }

        @Test(arguments: [
            "nan", "-1", "1000000000000000000000000000000", "99999999999999999999", "1e400", "", " ", "1, 2", "0x10",
        ])
        func anyResetEndsInAValue(reset: String) async throws {
            try await OktaLine.run {
                Recovery(maxAttempts: 2, maxWait: .milliseconds(10))
            } body: { line in
                var fault = SandboxFault(.status, path: "/api/v1/authn", times: 0)
                fault.status = 429
                fault.headers = [
                    "x-rate-limit-reset": reset, "x-rate-limit-limit": "600", "x-rate-limit-remaining": "0",
                ]
                line.sandbox.add(fault)
                let error = await #expect(throws: RecoveryError.self) { try await line.signIn() }
                #expect(error?.kind == .rateLimited || error?.kind == .quotaExhausted)
                #expect(error?.retryAfter.map { $0 >= .zero } ?? true)
                #expect(line.count <= 2)
            }
        }

        @Test func garbageIsNoAnswer() async throws {
            try await OktaLine.run { line in
                line.sandbox.add(SandboxFault(.garbage, path: "/api/v1/authn", times: 0))
                let error = await #expect(throws: RecoveryError.self) { try await line.signIn() }
                #expect(error?.kind == .transport || error?.kind == .unreadable)
                #expect(line.count == 1)
            }
        }
    }
}
