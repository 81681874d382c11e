import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P9SecretsStaySecret {
    private static let planted = "pl4nted"

    private static var credentials: Credentials {
        Credentials(
            accessToken: Secret("\(planted)-access"),
            clientToken: Secret("\(planted)-client"),
            sessionID: "sess_0",
            others: [JSONValue.Member("id_token", .string("\(planted)-id"))]
        )
    }

    private static let person: [Factor.Key: [Challenge.Answer]] = [
        .password: [.text(Secret("\(planted)-2"))], .emailCode: [.text(Secret("\(planted)-3"))],
        .totp: [.text(Secret("\(planted)-4"))], .newPassword: [.text(Secret("\(planted)-5"))],
    ]

    /// Everything that a watcher, a log or a crash report could make of what happened.
    private func traces(_ bench: ClerkBench, _ error: (any Error)?) -> String {
        var text = bench.events.words.joined(separator: "\n")
        for event in bench.events.events { dump(event, to: &text) }
        if let error {
            text += "\(error) \(String(describing: error)) \(String(reflecting: error))"
            if let error = error as? RecoveryError {
                text += error.userMessage
                dump(error.outcome, to: &text)
                dump(error.history, to: &text)
            }
        }
        return text
    }

    /// What Clerk's protection wants to have proved comes with a token of its own.
    @Test func aResourceDoesNotShowWhatIsToBeProved() async throws {
        let check = #""protect_check":{"status":"pending","token":"\#(Self.planted)"}"#
        let body = """
            {"response":{"object":"client","id":"client_1","sessions":[],\
            "sign_in":{"object":"sign_in","id":"sia_1","status":"needs_protect_check",\(check)},\
            "sign_up":{"object":"sign_up_attempt","id":"sua_1","status":"missing_requirements",\(check)}},"client":null}
            """
        let bench = try ClerkBench([.status(200, [:], body: body)])
        let client = try #require(try await bench.clerk.currentClient())
        #expect(client.signIn?.id == "sia_1" && client.signUp?.id == "sua_1")
        var text = "\(client) \(String(reflecting: client))"
        dump(client, to: &text)
        #expect(!text.contains(Self.planted))
    }

    @Test func noneAppearsWhateverHappens() async throws {
        let factors = "\(ClerkJSON.password),\(ClerkJSON.email)"
        let rotated = ["authorization": "\(Self.planted)-rotated"]
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: factors, token: "\(Self.planted)-6")
        let scripts: [[ScriptedTransport.Step]] = [
            [.complete(token: "\(Self.planted)-7")],
            [
                .error("form_password_incorrect", rotated), .error("form_password_compromised", rotated), first, first,
                .signIn("needs_second_factor", second: ClerkJSON.totp), .signIn("needs_new_password"), .complete(),
            ],
            [.status(500, rotated)], [.status(401, rotated, body: "\(Self.planted)")],
            [.fail(.connectionLost, .unknown)],
            [.status(200, rotated, body: "<html>\(Self.planted)")],
            [.error("user_locked", status: 403, rotated)], [.status(429, ["retry-after": "1"]), .status(500)],
            [.status(200, ["authorization": ""], body: "{}")],
        ]
        for script in scripts {
            let bench = try ClerkBench(script, credentials: Self.credentials)
            var failure: (any Error)?
            do {
                let session = try await bench.signIn(Secret("\(Self.planted)-1"), Person(Self.person))
                #expect(!"\(session)".contains(Self.planted))
            } catch {
                failure = error
            }
            #expect(!traces(bench, failure).contains(Self.planted))
        }
    }

    /// A session token with something in it that must not be seen.
    private static func jwt(_ number: Int) -> String { SessionJWT.of(number) }

    @Test func noneOfTheOtherOperationsTellsAny() async throws {
        let factors = #"{"strategy":"email_link","email_address_id":"idn_1"}"#
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: factors)
        let ends: [ScriptedTransport.Step] = [
            .complete(), .status(500, [:], body: Self.planted), .error("form_param_missing"),
            .status(401, [:], body: "<html>\(Self.planted)"), .fail(.connectionLost, .unknown),
            .status(200, [:], body: #"{"response":{"ticket":"\#(Self.planted)-ticket"}}"#),
        ]
        let configuration = ClerkConfiguration(redirectURL: "app://back")
        for end in ends {
            let bench = try ClerkBench(
                [first, first, end, end, end, end, end, end, end, end, end],
                credentials: Self.credentials,
                configuration: configuration
            )
            let person = Person(Self.person)
            var failures: [any Error] = []
            func attempt(_ body: () async throws -> Any) async {
                do {
                    let result = try await body()
                    #expect(!"\(result) \(String(reflecting: result))".contains(Self.planted))
                } catch {
                    failures.append(error)
                }
            }
            try await bench.skippingWaits {
                await attempt { try await bench.clerk.sendEmailLink(identifier: "ada") }
                await attempt { try await bench.clerk.signIn(ticket: Secret(Self.planted), answering: person) }
                let address = Secret("app://back?flow_id=\(Self.planted)&approval_token=\(Self.planted)")
                let proof =
                    OAuthClient.ProofKey(verifier: Secret(String(repeating: Self.planted, count: 8)))
                    ?? OAuthClient.ProofKey()
                await attempt {
                    try await bench.clerk.signIn(
                        link: ClerkEmailLink(proof: proof),
                        ledTo: address,
                        answering: person
                    )
                }
                let request = ClerkSignUpRequest(password: Secret(Self.planted), ticket: Secret(Self.planted))
                await attempt { "\(request)" }
                await attempt { try await bench.clerk.signUp(request, answering: person) }
                await attempt { try await bench.clerk.reverify(answering: person) }
            }
            for failure in failures { #expect(!traces(bench, failure).contains(Self.planted)) }
            #expect(!traces(bench, nil).contains(Self.planted))
        }
    }

    @Test func aSessionTokenIsNeitherPrintedNorShownInAnEvent() async throws {
        let bench = try ClerkBench(
            [.token(1), .error("missing_expired_token"), .token(2, issuedAt: 60)],
            credentials: Self.credentials
        )
        for _ in 0..<2 {
            let token = try await bench.clerk.sessionToken(of: "sess_1")
            var text = "\(token) \(String(reflecting: token)) \(bench.clerk)"
            dump(token, to: &text)
            dump(bench.clerk, to: &text)
            text += traces(bench, nil)
            #expect(![1, 2].contains { text.contains(Self.jwt($0).prefix(40)) })
            bench.clock.advance(by: .seconds(60))
        }
    }

    @Test func aClientAndItsPartsPrintNone() async throws {
        let bench = try ClerkBench([.client(["sess_1"])], credentials: Self.credentials)
        let client = try await bench.clerk.currentClient()
        var text = "\(bench.clerk)\(String(reflecting: bench.clerk))"
        dump(bench.clerk, to: &text)
        dump(client, to: &text)
        #expect(!text.contains(Self.planted))
    }

    @Test func noOtherHostEverGetsThem() async throws {
        let bench = try ClerkBench([
            .status(307, ["location": "https://evil.example/v1/client/sign_ins", "authorization": "T1"])
        ])
        _ = try? await bench.signIn()
        #expect(bench.transport.received.allSatisfy { $0.request.authority == "clerk.example.com" })
    }
}

@Suite struct P10HostileInputIsBounded {
    /// Answers that were right before somebody broke them, in any place.
    @Test(.timeLimit(.minutes(30)), arguments: 1...8)
    func aBrokenAnswerEndsInASessionOrATypedError(seed: Int) async throws {
        let mutator = ByteMutator(seed: UInt64(seed))
        let factors = "\(ClerkJSON.password),\(ClerkJSON.email),\(ClerkJSON.phone)"
        let client = ClerkJSON.client(
            ["sess_1"],
            signIn: ClerkJSON.signIn("needs_first_factor", first: factors)
        )
        let bodies = [
            #"{"response":\#(ClerkJSON.signIn("needs_first_factor", first: factors)),"client":\#(client)}"#,
            #"{"response":\#(ClerkJSON.signIn("needs_second_factor", second: ClerkJSON.totp)),"client":null}"#,
            #"{"response":\#(ClerkJSON.signIn("needs_new_password")),"client":null}"#,
            #"{"response":{"id":"sia_1","status":"complete","created_session_id":"sess_1"},"client":\#(client)}"#,
            #"{"response":\#(client),"client":null}"#,
            #"{"errors":[{"code":"form_password_compromised","meta":{"param_name":"password"}}],"client":\#(client)}"#,
            #"{"errors":[{"code":"user_locked","meta":{"lockout_expires_in_seconds":30}}]}"#,
            #"{"errors":[{"code":"verification_expired"}],"meta":{"client":\#(client)}}"#,
        ]
        for _ in 0..<ByteMutator.rounds(60) {
            let steps: [ScriptedTransport.Step] = (0..<40).map { _ in
                let body = Array(mutator.pick(bodies).utf8)
                let bytes = mutator.below(3) == 0 ? mutator.mutate(body) : body
                let status = mutator.pick([200, 200, 200, 400, 401, 403, 404, 422, 429, 500])
                return .run { _ in
                    TransportResponse(head: HTTPResponse(status: .init(code: status)), body: MessageBody(bytes))
                }
            }
            let bench = try ClerkBench(steps) { Recovery(maxAttempts: 2) }
            let answers = [Factor.Key.password, .emailCode, .phoneCode, .totp, .newPassword].map {
                ($0, (0..<10).map { Challenge.Answer.text(Secret("\($0)")) })
            }
            do {
                let session = try await bench.signIn("p", Person(Dictionary(uniqueKeysWithValues: answers)))
                #expect(!session.id.isEmpty)
            } catch is RecoveryError {
                // A typed error is as good an end as any.
            } catch is Challenge.NoAnswer {
                // So is having run out of answers.
            }
        }
    }

    /// The other operations, against a server that answers anything.
    @Test(.timeLimit(.minutes(30)), arguments: 1...6)
    func aBrokenAnswerEndsEveryOperation(seed: Int) async throws {
        let mutator = ByteMutator(seed: UInt64(seed) &* 77)
        let client = ClerkJSON.client(["sess_1"])
        let bodies = [
            SessionJWT.body(1), SessionJWT.client(1), #"{"response":\#(client),"client":null}"#,
            #"{"response":{"object":"session_verification","status":"needs_first_factor","supported_first_factors":[{"strategy":"password"},{"strategy":"passkey"}]},"client":\#(client)}"#,
            #"{"response":{"object":"sign_up_attempt","id":"sua_1","status":"missing_requirements","missing_fields":["password"],"unverified_fields":["email_address"],"verifications":{"external_account":{"status":"transferable"}}},"client":null}"#,
            #"{"response":{"object":"sign_in_attempt","id":"sia_1","status":"needs_first_factor","first_factor_verification":{"strategy":"passkey","status":"unverified","nonce":"{\"challenge\":\"AQID\",\"rpId\":\"x\"}"}},"client":null}"#,
            #"{"response":{"ticket":"t"}}"#, #"{"errors":[{"code":"missing_expired_token"}]}"#,
            #"{"errors":[{"code":"authentication_invalid"}],"meta":{"client":\#(client)}}"#,
            #"{"errors":[{"code":"session_reverification_required","meta":{"reverification":{"level":"multi_factor"}}}]}"#,
        ]
        for _ in 0..<ByteMutator.rounds(30) {
            let steps: [ScriptedTransport.Step] = (0..<60).map { _ in
                let body = Array(mutator.pick(bodies).utf8)
                let bytes = mutator.below(3) == 0 ? mutator.mutate(body) : body
                let status = mutator.pick([200, 200, 200, 401, 403, 404, 422, 500])
                return .run { _ in
                    TransportResponse(head: HTTPResponse(status: .init(code: status)), body: MessageBody(bytes))
                }
            }
            let bench = try ClerkBench(
                steps,
                credentials: Credentials(clientToken: "T0", sessionID: "sess_1"),
                configuration: ClerkConfiguration(authenticator: Authenticator(), redirectURL: "app://x")
            ) { Recovery(maxAttempts: 2) }
            let answers = [Factor.Key.password, .emailCode, .phoneCode, .totp, .newPassword, .text, .emailLink].map {
                ($0, (0..<10).map { Challenge.Answer.text(Secret("\($0)")) })
            }
            let person = Person(Dictionary(uniqueKeysWithValues: answers))
            let clerk = bench.clerk
            let operations: [() async throws -> Void] = [
                { _ = try await clerk.sessionToken() }, { _ = try await clerk.send(path: "/v1/me") },
                { _ = try await clerk.sessions() }, { try await clerk.activate(sessionID: "sess_1") },
                { try await clerk.reverify(answering: person) },
                { _ = try await clerk.send(path: "/v1/me", answering: person) },
                { _ = try await clerk.signIn(ticket: "t", answering: person) },
                { _ = try await clerk.signInWithPasskey(answering: person) },
                { _ = try await clerk.signUp(ClerkSignUpRequest(), answering: person) },
                { _ = try await clerk.resetPassword(identifier: "a", answering: person) },
                { try await clerk.signOut() },
            ]
            for operation in operations {
                do {
                    try await bench.skippingWaits { try await operation() }
                } catch is RecoveryError {
                    // A typed error is as good an end as any.
                } catch is Challenge.NoAnswer {
                    // So is having run out of answers.
                }
            }
        }
    }
}
