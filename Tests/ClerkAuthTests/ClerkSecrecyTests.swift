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

    private static let person: [AnswerKey: [ChallengeAnswer]] = [
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
    @Test(.timeLimit(.minutes(2)), arguments: 1...8)
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
        for _ in 0..<60 {
            let steps: [ScriptedTransport.Step] = (0..<40).map { _ in
                let body = Array(mutator.pick(bodies).utf8)
                let bytes = mutator.below(3) == 0 ? mutator.mutate(body) : body
                let status = mutator.pick([200, 200, 200, 400, 401, 403, 404, 422, 429, 500])
                return .run { _ in
                    TransportResponse(head: HTTPResponse(status: .init(code: status)), body: HTTPBody(bytes))
                }
            }
            let bench = try ClerkBench(steps) { Recovery(maxAttempts: 2) }
            let answers = [AnswerKey.password, .emailCode, .phoneCode, .totp, .newPassword].map {
                ($0, (0..<10).map { ChallengeAnswer.text(Secret("\($0)")) })
            }
            do {
                let session = try await bench.signIn("p", Person(Dictionary(uniqueKeysWithValues: answers)))
                #expect(!session.id.isEmpty)
            } catch is RecoveryError {
                // A typed error is as good an end as any.
            } catch is NoAnswer {
                // So is having run out of answers.
            }
        }
    }
}
