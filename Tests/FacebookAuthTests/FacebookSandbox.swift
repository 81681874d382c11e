import AuthRecovery
import AuthSandbox
import CurlTransport
import FacebookAuth
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

/// A client of Graph at a server that behaves like it and fails on purpose, over real sockets.
struct FacebookSandbox: Sendable {
    static let ada = "ada@example.com"
    static let grace = "grace@example.com"
    static let back = "http://127.0.0.1:8123/back"

    let sandbox: AuthSandbox
    let clock: ManualClock
    let transport: CurlTransport
    let tokens: InMemoryTokenStore
    let facebook: Facebook

    /// Runs the function; two people have accounts, and one of them two pages, an account at Instagram and a number at
    /// WhatsApp.
    ///
    /// - Parameters:
    ///   - permissions: What the first has granted.
    ///   - declines: What she declines by herself, where nobody fills in a form for her.
    ///   - holdsToken: Whether she has signed in.
    ///   - hasSecret: Whether the app has its secret.
    ///   - webLogin: Whether people sign in in a browser; else by device login.
    static func run(
        permissions: [String] = ["public_profile"],
        declines: [String] = [],
        holdsToken: Bool = true,
        hasSecret: Bool = true,
        settings: SandboxFacebookSettings = SandboxFacebookSettings(),
        configuration: FacebookConfiguration = FacebookConfiguration(webLogin: .init(redirectURI: back)),
        _ body: (FacebookSandbox) async throws -> Void
    ) async throws {
        var scenario = SandboxScenario.unlimited
        var person = SandboxUser(email: ada, password: "right")
        person.facebook.permissions = permissions
        person.facebook.declines = declines
        person.facebook.pages = ["500", "600", "700"]
        person.facebook.leavesOut = ["700"]
        person.facebook.instagram = ["17841"]
        person.facebook.whatsApp = ["1055"]
        scenario.users = [person, SandboxUser(email: grace, password: "right")]
        scenario.settings.facebook = settings
        // The sandbox's clock stands still where the client's begins: however busy the machine is, nothing runs out there.
        let begin = Timestamp(secondsSinceEpoch: Int64(time(nil)))
        let sandbox = try await AuthSandbox.start(scenario: scenario, now: { begin })
        defer { sandbox.stop() }
        let transport = CurlTransport()
        let clock = ManualClock()
        let time = clock.timeSource(wallTime: begin)
        let client = RecoveringClient(transport: PatientTransport(transport), runtime: Runtime(time: time)) {
            Recovery(maxWait: .seconds(120)) {
                RateLimitBackoff()
                TransientRetry()
            }
        }
        let tokens = InMemoryTokenStore(
            holdsToken ? Credentials(accessToken: Secret(try sandbox.facebookToken(for: ada))) : Credentials()
        )
        let app = FacebookApp(
            id: settings.appID,
            secret: hasSecret ? Secret(settings.appSecret) : nil,
            clientToken: Secret(settings.clientToken)
        )
        let line = FacebookSandbox(
            sandbox: sandbox,
            clock: clock,
            transport: transport,
            tokens: tokens,
            facebook: try Facebook(
                app: app,
                graph: sandbox.url,
                client: client,
                tokens: tokens,
                configuration: configuration
            )
        )
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(line))
        } catch {
            result = .failure(error)
        }
        await line.facebook.tokens.finish()
        await transport.shutdown()
        try result.get()
    }

    /// Does something while the clock jumps to whatever is slept for.
    func skippingWaits<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await clock.skippingWaits(body)
    }

    /// How many requests have come for paths that begin so.
    func count(_ path: String) -> Int { sandbox.requests().filter { $0.path.hasPrefix(path) }.count }

    /// What a call comes to.
    func outcome(of body: () async throws -> some Sendable) async -> RecoveryError? {
        do {
            _ = try await skippingWaits { try await body() }
            return nil
        } catch {
            return error as? RecoveryError
        }
    }

    func browser(_ user: String = ada, declining: Set<String> = [], saysNo: Bool = false) -> SandboxBrowser {
        SandboxBrowser(transport, user: user, declining: declining, saysNo: saysNo)
    }
}

/// A person with a browser, who fills the form of the login dialog in.
final class SandboxBrowser: ChallengeResponder {
    private let client: RecoveringClient
    private let user: String
    private let declined: Set<String>
    private let saysNo: Bool
    private let visits = Locked<[FormFields]>([])

    init(_ transport: CurlTransport, user: String, declining declined: Set<String>, saysNo: Bool) {
        client = RecoveringClient(transport: transport)
        self.user = user
        self.declined = declined
        self.saysNo = saysNo
    }

    /// What the dialog was opened with, one after the other.
    var queries: [FormFields] { visits.withLock { $0 } }

    func value(_ name: String, _ visit: Int = 0) -> String? {
        queries.indices.contains(visit) ? queries[visit][name].first?.reveal() : nil
    }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        guard challenge.key == .redirect, let url = challenge.url?.reveal() else {
            throw Challenge.NoAnswer(challenge.key)
        }
        let parts = url.split(separator: "?", maxSplits: 1)
        let query = FormFields(parsing: (parts.count > 1 ? parts[1] : "").utf8)
        visits.withLock { $0.append(query) }
        let page = try await client.send(try HTTPRequest(url: url))
        #expect(page.status == .ok)
        var form: FormFields = ["user": user, "password": "right", "decision": saysNo ? "deny" : "approve"]
        let asked = query["scope"].first?.reveal().split(separator: ",").map(String.init) ?? []
        for scope in asked where !declined.contains(scope) { form.add("grant", scope) }
        let request = try HTTPRequest(
            method: .post,
            url: url,
            headerFields: [.contentType: "application/x-www-form-urlencoded"]
        )
        var options = RequestOptions()
        options.followsRedirects = false
        let answer = try await client.send(request, body: form.body, options: options)
        return .text(Secret(answer.headerFields[.location] ?? ""))
    }
}
