import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Synchronization
import Testing

/// Secrets are planted wherever one can be, everything goes wrong, and everything that can be printed is printed.
@Suite struct P9SecretsStaySecret {
    static let planted = "s3cr3t"

    /// A text with the secret in it, so that a part of it would be noticed too.
    private static func secret(_ name: String) -> Secret { Secret("\(planted)-\(name)") }

    private static let credentials = Credentials(
        accessToken: secret("access"),
        refreshToken: secret("refresh"),
        clientToken: secret("client"),
        sessionID: "\(planted)-session",
        ssoToken: secret("sso"),
        others: [JSONValue.Member("other", .string("\(planted)-other"))]
    )

    /// What servers send that could repeat a secret.
    private static let steps: [ScriptedTransport.Step] = [
        .status(401, fields("Bearer error=\"invalid_token\", error_description=\"\(planted)\""), body: body),
        .status(403, fields("Bearer error=\"insufficient_scope\", scope=\"\(planted)\""), body: body),
        .status(400, fields(), body: body), .status(500, fields(), body: planted), .status(429, fields(), body: body),
        .status(200, fields(), body: "{\"access_token\": 1, \"refresh_token\": \"\(planted)\"}"),
        .status(302, fields().merging(["location": "https://elsewhere.example/?code=\(planted)"]) { $1 }),
        .fail(.connectionLost, .unknown),
    ]

    private static let body =
        "{\"error\":\"invalid_grant\",\"error_description\":\"\(planted)\",\"token\":\"\(planted)\"}"

    private static func fields(_ challenge: String = "Basic realm=\"\(planted)\"") -> [String: String] {
        [
            "www-authenticate": challenge, "set-cookie": "id=\(planted)", "x-request-id": "a \(planted)",
            "authorization": planted, "dpop-nonce": planted, "content-type": "application/json",
        ]
    }

    @Test(arguments: steps.indices, 0..<3)
    func noneIsPrinted(step: Int, renewal: Int) async throws {
        let log = Log()
        let transport = ScriptedTransport(then: Self.steps[step])
        let store = InMemoryRecoveryStore()
        let clock = ManualClock()
        let skipper = Task {
            while !Task.isCancelled {
                clock.advance(by: .milliseconds(10))
                await Task.yield()
            }
        }
        defer { skipper.cancel() }
        let runtime = Runtime(time: clock.timeSource(), store: store)
        runtime.events.observe { log.note($0) }
        let tokenTransport = ScriptedTransport(then: Self.steps[(step + renewal) % Self.steps.count])
        let oauth = OAuthClient(
            server: try OAuthServer(endpoints: [.token: "https://id.example.com/token?key=\(Self.planted)"]),
            clientID: "app",
            authentication: .clientSecretBasic(Self.secret("client")),
            client: RecoveringClient(transport: tokenTransport, runtime: runtime) {
                Recovery(maxAttempts: 1, maxWait: .zero)
            }
        )
        let tokens = TokenManager(
            store: InMemoryTokenStore(Self.credentials),
            renewer: RefreshTokenGrant(client: oauth, reuse: .rotating(grace: .zero))
        )
        let client = RecoveringClient(transport: transport, runtime: runtime) {
            Recovery(maxAttempts: 1, maxWait: .zero) {
                RateLimitBackoff()
                SessionRenewal(tokens)
                TransientRetry()
            }
            Authorization(tokens, audience: [Bench.origin])
        }
        var request = HTTPRequest(
            method: .post,
            scheme: "https",
            authority: "user:\(Self.planted)@api.example.com",
            path: "/items?token=\(Self.planted)#\(Self.planted)"
        )
        request.headerFields[.cookie] = "id=\(Self.planted)"
        do {
            let response = try await client.send(request, body: MessageBody("password=\(Self.planted)"))
            log.note(response)
        } catch {
            log.note(error)
            if let error = error as? RecoveryError {
                log.note(error.outcome)
                log.note(error.history)
                log.note(error.userMessage)
                if let response = error.response { log.note(response) }
                if let cause = error.cause { log.note(cause) }
            }
        }
        log.note(tokens)
        log.note(oauth)
        log.note(oauth.authentication)
        log.note(try await tokens.store.read())
        #expect(!log.text.contains(Self.planted), "\(log.text.components(around: Self.planted))")
        #expect(!log.text.isEmpty)
    }

    @Test func noValueThatHoldsOnePrintsIt() throws {
        let log = Log()
        log.note(Self.secret("password"))
        log.note(Self.credentials)
        log.note(Credentials.Stored(Self.credentials, version: 1))
        let body = Array(Self.body.utf8)
        var response = HTTPResponse(status: .unauthorized)
        response.headerFields[.setCookie] = Self.planted
        let exchange = Exchange(
            method: .get,
            path: "/",
            result: .response(response, body: body),
            now: Timestamp(secondsSinceEpoch: 0)
        )
        log.note(exchange)
        log.note(OAuthClassifier().classify(exchange))
        log.note(RecoveredResponse(head: response, body: MessageBody(body)))
        log.note(MessageBody(body))
        log.note(OAuthClient.TokenAnswer.self)
        #expect(!log.text.contains(Self.planted))
        // Neither as the numbers of its bytes.
        #expect(!log.text.contains("115, 51, 99, 114"))
    }

    @Test func rowsOfASharedStoreTellNoNames() async throws {
        let store = InMemoryRecoveryStore()
        let state = SharedState(store)
        let key = SharedState.Gate.Key(scope: .account, origin: Bench.origin, name: Self.planted)
        await state.close(SharedState.Gate(key: key, reason: .accountLocked, opensAt: nil))
        let text = key.stableText(salt: .init(Array("billing".utf8)))
        #expect(!text.contains(Self.planted))
        #expect(text == key.stableText(salt: .init(Array("billing".utf8))))
        #expect(text != key.stableText(salt: .init(Array("shipping".utf8))), "no fingerprint serves in two namespaces")
        #expect(!text.contains(Fingerprint.text(of: Self.planted)), "nor one that was made beforehand")
    }
}

/// Everything that is printed.
private final class Log: Sendable {
    private let lines = Locked("")

    var text: String { lines.withLock { $0 } }

    func note(_ value: some Sendable) {
        var dumped = ""
        dump(value, to: &dumped)
        let text = "\(value)\n\(String(reflecting: value))\n\(String(describing: value))\n\(dumped)\n"
        lines.withLock { $0 += text }
    }
}

extension String {
    /// Some of the text around another one, to find where it comes from.
    fileprivate func components(around text: String) -> String {
        guard let range = firstRange(of: text) else { return "" }
        let start = index(range.lowerBound, offsetBy: -300, limitedBy: startIndex) ?? startIndex
        return String(self[start..<range.upperBound])
    }
}
