import AuthRecovery
import AuthSandbox
import HTTPRecovery
import HTTPTypes
import Testing

@testable import Auth0Auth

/// A browser has a session of its own, which it ends itself.
@Suite("Auth0 at the sandbox: the browser's session", .timeLimit(.minutes(10)))
struct Auth0EndSessionTests {
    private typealias Line = Auth0SandboxTests.Line
    private static let name = Auth0SandboxTests.name
    private static let app = "http://127.0.0.1:8123/"

    /// A step of the sign-in was another one than the test wants.
    private struct Unexpected: Error {}

    /// A browser: what it is shown, where it is sent, and the cookie that it has.
    private struct Browser {
        let line: Line
        private(set) var cookie = ""
        private(set) var status = 0
        private(set) var location: String?
        private(set) var page = ""

        init(_ line: Line) { self.line = line }

        mutating func open(_ url: String, form: FormFields? = nil) async throws {
            var request = try HTTPRequest(method: form == nil ? .get : .post, url: url)
            if form != nil { request.headerFields[.contentType] = "application/x-www-form-urlencoded" }
            if !cookie.isEmpty { request.headerFields[.cookie] = cookie }
            var options = RequestOptions()
            options.followsRedirects = false
            let answer: RecoveredResponse
            do {
                let body = form.map { MessageBody($0.encoded) }
                answer = try await line.auth0.client.send(request, body: body, options: options)
            } catch let error as RecoveryError {
                answer = try #require(error.response)
            }
            if let set = answer.headerFields[.setCookie] { cookie = String(set.prefix { $0 != ";" }) }
            (status, location) = (answer.status.code, answer.headerFields[.location])
            page = String(decoding: answer.body.bytesInMemory ?? [], as: UTF8.self)
        }

        /// Goes to the login page, and signs in there if it is asked; signs the app in with what it is sent back with.
        mutating func signIn() async throws {
            var flow = line.auth0.signInFlow(.browser(loginHint: name))
            guard case .ask(let question) = try await flow.step(.begin).step, let url = question.url?.reveal() else {
                throw Unexpected()
            }
            try await open(url)
            if status == 200 {
                var fields = FormFields(parsing: url.split(separator: "?", maxSplits: 1)[1].utf8)
                fields.add("username", name)
                fields.add("password", "right")
                try await open(line.sandbox.url + "/auth0/u/login", form: fields)
            }
            guard case .finished = try await flow.step(.answer(.text(Secret(location ?? "")))).step else {
                throw Unexpected()
            }
        }

        /// Makes an account on the page that the login page's address leads to.
        mutating func signUp(_ name: String, password: String) async throws -> Auth0Session {
            var flow = line.auth0.signInFlow(.browser())
            guard case .ask(let question) = try await flow.step(.begin).step, let url = question.url?.reveal() else {
                throw Unexpected()
            }
            try await open(url)
            guard page.contains("action=\"/auth0/u/signup\"") else { throw Unexpected() }
            var fields = FormFields(parsing: url.split(separator: "?", maxSplits: 1)[1].utf8)
            fields.add("username", name)
            fields.add("password", password)
            try await open(line.sandbox.url + "/auth0/u/signup", form: fields)
            guard case .finished(let session) = try await flow.step(.answer(.text(Secret(location ?? "")))).step else {
                throw Unexpected()
            }
            return session
        }

        /// Whether the login page lets them pass without a question.
        mutating func isSignedIn() async throws -> Bool {
            let url = try line.auth0.api.loginRequest(hint: nil).url
            try await open(url)
            return status == 302
        }
    }

    private func run(_ body: (Line) async throws -> Void) async throws {
        let configuration = Auth0Configuration(clientID: "cli", redirectURI: Self.app + "callback")
        try await Auth0SandboxTests.run(configuration: configuration, body)
    }

    /// The ID token names the session: nobody is asked, and what was sent along comes back.
    @Test func aBrowsersSessionIsEndedByTheBrowser() async throws {
        try await run { line in
            var browser = Browser(line)
            try await browser.signIn()
            let end = try await line.auth0.endSessionURL(redirectURI: Self.app, state: "S 1", isFederated: true)
                .reveal()
            try await line.auth0.signOut()
            #expect(try await browser.isSignedIn(), "what is revoked is the app's")
            #expect(end.contains("/oidc/logout?id_token_hint=") && end.hasSuffix("&federated"))
            try await browser.open(end)
            #expect(browser.location == Self.app + "?state=S%201" || browser.location == Self.app + "?state=S+1")
            #expect(try await browser.isSignedIn() == false)
        }
    }

    /// A renewed ID token names it, too.
    @Test func aRenewedSessionIsTheSame() async throws {
        try await run { line in
            var browser = Browser(line)
            try await browser.signIn()
            try await line.auth0.refresh()
            try await browser.open(line.auth0.endSessionURL(redirectURI: Self.app).reveal())
            #expect(browser.location == Self.app)
            #expect(try await browser.isSignedIn() == false)
        }
    }

    /// Without an ID token of the browser's session the app alone is named; nobody is asked for that.
    @Test func withoutAnIDTokenTheAppIsNamed() async throws {
        try await run { line in
            var browser = Browser(line)
            try await browser.signIn()
            try await line.auth0.signOut()
            _ = try await line.signIn()
            let end = try await line.auth0.endSessionURL(redirectURI: Self.app).reveal()
            #expect(!end.contains("id_token_hint"), "the password's session is another one")
            try await browser.open(end)
            #expect(browser.location == Self.app)
            #expect(try await browser.isSignedIn() == false)
        }
    }

    /// What is to come back needs the standard's endpoint, which asks the person where it does not know the session.
    @Test func thePersonIsAskedWhereTheSessionIsNotNamed() async throws {
        try await run { line in
            var browser = Browser(line)
            try await browser.signIn()
            try await line.auth0.signOut()
            let end = try await line.auth0.endSessionURL(redirectURI: Self.app, state: "S").reveal()
            try await browser.open(end)
            #expect(browser.status == 200 && browser.page.contains("Do you want to log out?"))
            #expect(try await browser.isSignedIn())
            var form = FormFields(parsing: end.split(separator: "?", maxSplits: 1)[1].utf8)
            form.add("decision", "confirm")
            try await browser.open(line.sandbox.url + "/auth0/oidc/logout", form: form)
            #expect(browser.location == Self.app + "?state=S")
            #expect(try await browser.isSignedIn() == false)
        }
    }

    /// The login page is told what it is to show; with the app's word it makes an account.
    @Test func thePageMakesAnAccount() async throws {
        var configuration = Auth0Configuration(clientID: "cli", redirectURI: Self.app + "callback")
        configuration.loginParameters = ["screen_hint": "signup"]
        try await Auth0SandboxTests.run(configuration: configuration) { line in
            var browser = Browser(line)
            let session = try await browser.signUp("new@example.com", password: "long enough")
            #expect(session.email == "new@example.com")
            #expect(try await browser.isSignedIn())
        }
    }

    /// An address that is not registered is refused, and the session goes on.
    @Test func nobodyIsSentElsewhere() async throws {
        try await run { line in
            var browser = Browser(line)
            try await browser.signIn()
            try await browser.open(line.auth0.endSessionURL(redirectURI: "https://elsewhere.example").reveal())
            #expect(browser.status == 400 && browser.location == nil)
            #expect(try await browser.isSignedIn())
        }
    }
}
