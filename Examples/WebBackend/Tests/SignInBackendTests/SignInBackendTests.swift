import AuthSandbox
import CurlTransport
import Foundation
import HTTPRecovery
import HTTPTypes
import ServiceTrials
import SignInBackend
import Testing

/// The backend in two processes behind one store, with a browser that comes to either.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct SignInBackendTests {
    private let state = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).sqlite").path

    private func run(_ body: (AuthSandbox, Backend, Backend) async throws -> Void) async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer {
            sandbox.stop()
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: state + suffix) }
        }
        let one = try await Backend(frontendAPI: sandbox.url, state: state)
        let other = try await Backend(frontendAPI: sandbox.url, state: state)
        try await body(sandbox, one, other)
    }

    private let beginning: JSONValue = ["identifier": "alan@example.com", "password": "open-sesame-42"]

    private func code(_ sandbox: AuthSandbox) throws -> String {
        try #require(sandbox.outbox(to: "alan@example.com").last?.code)
    }

    /// A compromised password, a code by e-mail, a code of an authenticator app and a new password, which the session is
    /// pending for; each answer at the other instance, and one instance dies on the way.
    @Test func aSignInGoesOnWhereverItsAnswersArrive() async throws {
        try await run { sandbox, one, other in
            let browser = Browser()
            let first = try await browser.post("/sign-in", beginning, to: one)
            #expect(first.status == 200 && first.asked == "email_code")
            #expect(first.json["notices"]?.array?.isEmpty == false, "the user is told why")
            #expect(await browser.setCookies.allSatisfy { $0.contains("HttpOnly") && $0.contains("SameSite=Strict") })
            one.kill()
            let second = try await browser.answer(try code(sandbox), at: other)
            #expect(second.asked == "totp")
            let third = try await Backend(frontendAPI: sandbox.url, state: state)
            let proof = try await browser.answer(try #require(sandbox.totp(for: "alan@example.com")), at: third)
            #expect(proof.asked == "new_password")
            let last = try await browser.answer("correct-horse-7", at: other)
            #expect(last.session?.hasPrefix("sess_") == true)
            #expect(await browser.cookies["sign_in"]?.isEmpty ?? true)
        }
    }

    @Test func twoClicksAtOnceSendOneAnswer() async throws {
        try await run { sandbox, one, other in
            let browser = Browser()
            _ = try await browser.post("/sign-in", beginning, to: one)
            let code = try code(sandbox)
            let (left, right) = (await browser.window(), await browser.window())
            async let first = left.answer(code, at: one)
            async let second = right.answer(code, at: other)
            let pages = try await [first, second]
            #expect(sandbox.requests(path: "/v1/client/sign_ins/*/attempt_first_factor").count == 1)
            // The slower one waits, or is shown what the faster one has led to.
            #expect(pages.contains { $0.asked == "totp" })
            for page in pages where page.asked == nil {
                #expect(page.status == 409 && page.retryAfter != nil)
            }
            for window in [left, right] {
                #expect(try await window.answer(code, at: one).asked == "totp", "and can go on")
            }
            #expect(sandbox.requests(path: "/v1/client/sign_ins/*/attempt_first_factor").count == 1)
        }
    }

    @Test func aWrongCodeIsAskedForAgain() async throws {
        try await run { sandbox, one, other in
            let browser = Browser()
            _ = try await browser.post("/sign-in", beginning, to: one)
            let code = try code(sandbox)
            let page = try await browser.answer(code == "000000" ? "111111" : "000000", at: other)
            #expect(page.status == 200 && page.asked == "email_code")
            #expect(page.json["ask"]?["attemptsLeft"]?.number?.saturatedInt == 2)
            #expect(page.json["notices"]?.array?.isEmpty == false)
            #expect(try await browser.answer(code, at: one).asked == "totp")
        }
    }

    @Test func aSignInCanBeGivenUp() async throws {
        try await run { sandbox, one, other in
            let browser = Browser()
            _ = try await browser.post("/sign-in", beginning, to: one)
            let window = await browser.window()
            #expect(try await browser.send(.delete, "/sign-in", .null, to: other).status == 204)
            let page = try await window.answer(try code(sandbox), at: one)
            #expect(page.status == 410 && page.json["error"] == "flow_expired")
            #expect(sandbox.requests(path: "/v1/client/sign_ins/*/attempt_first_factor").isEmpty)
        }
    }

    /// What cannot be given up is refused in words, and the browser is rid of it all the same.
    @Test func whatCannotBeGivenUpIsForgottenByTheBrowser() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        let directory = try TemporaryDirectory()
        let redis = try await RunningService.redis(in: directory)
        let backend = try await Backend(
            frontendAPI: sandbox.url,
            state: "redis+unix://\(directory.path)/redis.sock"
        )
        let confused = Browser(cookies: ["browser": "another", "sign_in": "no-ticket"])
        let refused = try await confused.send(.delete, "/sign-in", .null, to: backend)
        #expect(refused.status == 410 && refused.json["error"] == "flow_expired")
        #expect(await confused.cookies["sign_in"] == nil)

        let browser = Browser()
        #expect(try await browser.post("/sign-in", beginning, to: backend).asked == "email_code")
        redis.send(SIGKILL)
        _ = await redis.exit()
        let failed = try await browser.send(.delete, "/sign-in", .null, to: backend)
        #expect(failed.status == 503 && failed.json["error"] == "unavailable")
        #expect(await browser.cookies["sign_in"] == nil)
    }

    /// A Redis that answers late, as one far away or under load does, is waited for.
    @Test func aSlowStoreIsWaitedFor() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        let directory = try TemporaryDirectory()
        let redis = try await RunningService.redis(in: directory)
        let backend = try await Backend(
            frontendAPI: sandbox.url,
            state: "redis+unix://\(directory.path)/redis.sock"
        )
        redis.send(SIGSTOP)
        async let page = Browser().post("/sign-in", beginning, to: backend)
        try await Task.sleep(for: .milliseconds(700))
        redis.send(SIGCONT)
        #expect(try await page.asked == "email_code")
        redis.send(SIGTERM)
    }

    /// Decides at the page of another provider, and returns the path at which the browser comes back.
    private func decide(_ decision: String, at page: String?) async throws -> String {
        var request = try HTTPRequest(url: #require(page))
        request.method = .post
        request.headerFields[.contentType] = "application/x-www-form-urlencoded"
        let client = RecoveringClient(transport: CurlTransport()) {}
        let options = RequestOptions(followsRedirects: false)
        let answer = try await client.send(request, body: MessageBody(decision), options: options)
        let url = try #require(answer.headerFields[.location])
        #expect(url.hasPrefix(RunningService.signInURL + "/"))
        return String(url.dropFirst(RunningService.signInURL.count))
    }

    /// The browser leaves one instance for another provider, and comes back to the other.
    @Test(arguments: ["ada@example.com", "grace@example.com", "new@example.com"])
    func anotherProviderIsVisited(by email: String) async throws {
        try await run { sandbox, one, other in
            let browser = Browser()
            let first = try await browser.post("/sign-in/with/google", .null, to: one)
            #expect(first.status == 303 && first.location?.hasPrefix(sandbox.url + "/") == true)
            // It comes back by a link from elsewhere.
            #expect(await browser.setCookies.allSatisfy { $0.contains("HttpOnly") && $0.contains("SameSite=Lax") })
            let way = try await decide("decision=allow&email=\(email)", at: first.location)
            let second = try await browser.get(way, from: other)
            #expect(await browser.setCookies.allSatisfy { $0.contains("SameSite=Strict") })
            var last = second
            // What the provider has proved may be one factor of two.
            if let way = second.json["choose"]?.array?.first {
                let question = try await browser.post("/sign-in/answer", ["choose": way], to: one)
                #expect(question.asked == "totp")
                last = try await browser.answer(try #require(sandbox.totp(for: email)), at: other)
            }
            #expect(last.session?.hasPrefix("sess_") == true, "\(last.json)")
        }
    }

    @Test func whoDeclinesAtTheOtherProviderIsTold() async throws {
        try await run { _, one, other in
            let browser = Browser()
            let first = try await browser.post("/sign-in/with/google", .null, to: one)
            let page = try await browser.get(try await decide("decision=deny", at: first.location), from: other)
            #expect(page.status == 422 && page.json["error"] == "declined")
            #expect(try await Browser().get(BrowserSignIns.callbackPath, from: one).status == 410)
        }
    }

    /// Nothing but the way back from another provider is taken for it.
    @Test func theWayBackAnswersNoOtherQuestion() async throws {
        try await run { sandbox, one, other in
            let browser = Browser()
            _ = try await browser.post("/sign-in", beginning, to: one)
            for query in ["", "?rotating_token_nonce=4711", "?code=1"] {
                let page = try await browser.get(BrowserSignIns.callbackPath + query, from: other)
                #expect(page.status == 409)
            }
            #expect(sandbox.requests(path: "/v1/client/sign_ins/*/attempt_first_factor").isEmpty)
            #expect(try await browser.answer(try code(sandbox), at: one).asked == "totp", "no attempt was spent")

            let visitor = Browser()
            let first = try await visitor.post("/sign-in/with/google", .null, to: one)
            let count = sandbox.requests().count
            for query in ["?rotating_token_nonce=", "?rotating_token_nonce=a&rotating_token_nonce=b"] {
                let page = try await visitor.get(BrowserSignIns.callbackPath + query, from: one)
                #expect(page.status == 400)
            }
            #expect(sandbox.requests().count == count)
            let way = try await decide("decision=allow&email=ada@example.com", at: first.location)
            #expect(try await visitor.get(way, from: other).session?.hasPrefix("sess_") == true)
        }
    }

    @Test func aTicketIsOfNoUseInAnotherBrowser() async throws {
        try await run { sandbox, one, _ in
            let browser = Browser()
            _ = try await browser.post("/sign-in", beginning, to: one)
            let thief = await browser.window(with: ["browser": "another"])
            let page = try await thief.answer(try code(sandbox), at: one)
            #expect(page.status == 410)
            #expect(sandbox.requests(path: "/v1/client/sign_ins/*/attempt_first_factor").isEmpty)
        }
    }

    @Test(arguments: ["", "{", "[]", #"{"password": 1}"#, #"{"identifier": {}}"#])
    func whatIsNoRequestIsRefused(_ text: String) async throws {
        try await run { sandbox, one, _ in
            let page = try await Browser().post("/sign-in", .string(text), to: one)
            #expect((400..<500).contains(page.status))
            #expect(sandbox.requests().isEmpty)
            #expect(try await Browser().answer("1", at: one).status == 410)
        }
    }

    /// A page of another site, or a link there, begins nothing; its browser says where the request comes from.
    @Test(arguments: [
        ["Origin": "https://evil.example"], ["Origin": "null"], ["Sec-Fetch-Site": "cross-site"],
        ["Sec-Fetch-Site": "same-site", "Origin": "https://app.example.com"],
    ])
    func anotherSiteCannotBeginASignIn(_ fields: [String: String]) async throws {
        try await run { sandbox, one, _ in
            let browser = Browser()
            for (method, path) in [
                (HTTPRequest.Method.post, "/sign-in/with/google"), (.post, "/sign-in"), (.post, "/sign-in/answer"),
                (.delete, "/sign-in"),
            ] {
                let page = try await browser.send(method, path, beginning, fields: fields, to: one)
                #expect(page.status == 403, "\(method) \(path)")
                #expect(await browser.cookies.isEmpty)
            }
            let link = try await browser.get("/sign-in/with/google", from: one)
            #expect([404, 405].contains(link.status))
            #expect(sandbox.requests().isEmpty)
        }
    }

    /// The backend's own pages, before and behind a proxy that has another name for it.
    @Test(arguments: [
        ["Sec-Fetch-Site": "same-origin"], ["Sec-Fetch-Site": "none"], ["Origin": "SELF"],
        ["Origin": "\(RunningService.signInURL)"],
    ])
    func itsOwnPagesCan(_ fields: [String: String]) async throws {
        try await run { _, one, _ in
            let own = fields.mapValues { $0 == "SELF" ? one.url : $0 }
            let page = try await Browser().send(.post, "/sign-in", beginning, fields: own, to: one)
            #expect(page.status == 200 && page.asked == "email_code", "\(page)")
        }
    }

    @Test(
        arguments: [
            (["SIGN_IN_KEY": ""], [], 78, "SIGN_IN_KEY"), (["SIGN_IN_KEY": "not-a-key-4711"], [], 78, "SIGN_IN_KEY"),
            ([:], ["--frontend-api", "nowhere"], 64, "--frontend-api"),
            ([:], ["--public-url", "nowhere"], 64, "--public-url"),
            ([:], ["--state", "redis://user:pass-4711@/x?y"], 64, "--state"),
            ([:], ["--state", "mongodb://x"], 64, "--state"),
            ([:], ["--nothing"], 64, "--nothing"),
        ] as [([String: String], [String], Int32, String)]
    )
    func whatCannotWorkEndsIt(
        environment: [String: String],
        options: [String],
        status: Int32,
        word: String
    ) async throws {
        let program = try await RunningService(
            "sign-in-backend",
            ["--listen", "127.0.0.1:0", "--frontend-api", "http://127.0.0.1:1", "--state", state] + options,
            environment: ["SIGN_IN_KEY": String(repeating: "ab", count: 32)].merging(environment) { $1 },
            announces: false
        )
        #expect(await program.exit() == status)
        #expect(program.lines.contains { $0.contains(word) } && !program.lines.contains { $0.contains("4711") })
    }

    @Test(.enabled(if: RunningService.hasIPv6)) func itListensAtAnAddressOfIPv6() async throws {
        let program = try await RunningService(
            "sign-in-backend",
            ["--listen", "[::1]:0", "--frontend-api", "http://127.0.0.1:1", "--state", state],
            environment: ["SIGN_IN_KEY": String(repeating: "ab", count: 32)]
        )
        #expect(program.url.hasPrefix("http://[::1]:"))
        #expect(try await ServiceCaller().call("\(program.url)/nothing").status == 404)
    }

    /// A port that there is not, and one that somebody has.
    @Test func whereItCannotListenIsTold() async throws {
        try await run { sandbox, one, _ in
            let taken = one.url.replacing("http://", with: "")
            for (address, status) in [("127.0.0.1:99999", 64), (":8080", 64), ("nowhere", 64), (taken, 69)] {
                let program = try await RunningService(
                    "sign-in-backend",
                    ["--listen", address, "--frontend-api", sandbox.url, "--state", state],
                    environment: ["SIGN_IN_KEY": String(repeating: "ab", count: 32)],
                    announces: false
                )
                #expect(await program.exit() == Int32(status), "\(address)")
                #expect(program.lines.contains { $0.contains(address) }, "\(program.lines)")
            }
        }
    }
}
