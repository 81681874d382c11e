import AuthSandbox
import Foundation
import HTTPRecovery
import Testing

/// Sign-ins that go through a browser, which comes back to the program.
@Suite(
    "auth-client --redirect-uri",
    .enabled(if: HeadlessBrowser.isInstalled, "no chromium and chromedriver: apt-get install chromium chromium-driver"),
    .timeLimit(.minutes(30)),
    .bounded
)
struct BrowserSignInTests {
    /// The program's options, with a browser that writes down where it is sent.
    private static func withBrowser(_ bench: Bench, _ options: [String]) async throws -> Bench {
        var bench = bench
        let place = bench.directory + "/visited"
        let program = bench.directory + "/browser"
        let script = "#!/bin/sh\nprintf '%s' \"$1\" > '\(place).part' && mv '\(place).part' '\(place)'\n"
        try await BuiltProgram.make(script, at: program)
        bench.environment["BROWSER"] = program
        bench.options += options.contains("--return-uri") ? [] : ["--redirect-uri", "http://127.0.0.1/callback"]
        bench.options += options
        return bench
    }

    /// Signs in, with what the person does at the page in between.
    private static func signIn(
        _ bench: Bench,
        secrets: [String] = [],
        _ body: @Sendable (HeadlessBrowser) async throws -> Void
    ) async throws -> Run {
        let program = try bench.start(["sign-in"])
        try await HeadlessBrowser.run(in: bench.directory) { browser in
            try await browser.open(visited(bench))
            try await body(browser)
            // Whoever has come back is told so.
            try await browser.waits(for: "You can close this window, and go back to the program.")
        }
        return try await bench.finish(program, secrets: secrets)
    }

    private static func visited(_ bench: Bench) async throws -> String {
        while true {
            let url = contents(of: bench.directory + "/visited")
            if !url.isEmpty { return url }
            try bench.requireRunning()
            let hasStarted = !contents(of: bench.directory + "/err").contains("open this address")
            try #require(hasStarted, "no browser was started")
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test func clerkSendsToAnotherProvider() async throws {
        try await Bench.run { bench in
            let bench = try await Self.withBrowser(bench, ["--at", "google"])
            let run = try await Self.signIn(bench) { try await $0.click("#allow") }
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.session?.isEmpty == false)
            #expect(try await bench.run("status").session == run.session)
        }
    }

    @Test func whoDeclinesAtTheOtherProviderIsNotSignedIn() async throws {
        try await Bench.run { bench in
            let bench = try await Self.withBrowser(bench, ["--at", "google"])
            let run = try await Self.signIn(bench) { try await $0.click("#deny") }
            #expect(run.status == 77)
            #expect(run.kind == "declined")
            #expect(try await bench.run("status").status != 0)
        }
    }

    @Test func facebookShowsItsDialog() async throws {
        try await Bench.facebook { bench in
            let bench = try await Self.withBrowser(bench.withSecret, ["--scope", "public_profile,email,user_posts"])
            let run = try await Self.signIn(bench) { browser in
                try await browser.type(Bench.ada, into: "#user")
                try await browser.type("open-sesame-42", into: "#password")
                try await browser.click("#grant-user_posts")
                try await browser.click("#continue")
            }
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.session == bench.sandbox.facebookID(of: Bench.ada))
            let permissions = try await bench.run("get", "me/permissions")
            #expect(permissions.output.contains(#""permission":"email","status":"granted""#))
            #expect(permissions.output.contains(#""permission":"user_posts","status":"declined""#))
            #expect(run.errors.contains("Declined: user_posts."))
        }
    }

    @Test func whoCancelsAtFacebookIsNotSignedIn() async throws {
        try await Bench.facebook { bench in
            let bench = try await Self.withBrowser(bench.withSecret, [])
            let run = try await Self.signIn(bench) { try await $0.click("#cancel") }
            #expect(run.status == 77)
            #expect(run.kind == "declined")
        }
    }

    /// A site that has to be posted to is reached by a page of the program's, which posts by itself.
    @Test func pingAMSendsToAnotherProviderByAForm() async throws {
        let back = "http://127.0.0.1:\(Int.random(in: 20_000...30_000))/callback"
        try await AM.run {
            ($0.providerUser, $0.redirectURI, $0.redirectMethod) = ("grace", back, "POST")
        } _: { bench in
            let bench = try await Self.withBrowser(bench, ["--journey", "SAML", "--return-uri", back])
            let run = try await Self.signIn(bench) { _ in }
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("grace"))
            #expect(bench.sandbox.requests().contains { $0.method == "POST" && $0.path.hasSuffix("/idp/saml") })
        }
    }

    @Test func auth0ShowsItsLoginPage() async throws {
        try await Bench.run { bench in
            var bench = try await Self.withBrowser(
                bench,
                ["--base-url", bench.sandbox.url + "/auth0", "--client-id", "cli", "--way", "browser"]
            )
            bench.provider = "auth0"
            let run = try await Self.signIn(bench) { browser in
                try await browser.type("ada@example.com", into: "input[name=username]")
                try await browser.type("open-sesame-42", into: "input[name=password]")
                try await browser.click("button[value=continue]")
            }
            #expect(run.status == 0, "\(run.errors)")
        }
    }
}

/// The way back without a browser: what any OAuth 2 server redirects to.
@Suite("auth-client --provider oauth --redirect-uri", .timeLimit(.minutes(30)), .bounded)
struct RedirectSignInTests {
    @Test func aCodeComesBack() async throws {
        try await OAuthTests.run { bench in
            var bench = bench
            bench.options += ["--redirect-uri", "http://localhost:0/callback"]
            bench.sandbox.updateSettings { $0.oauth.signedInUser = "ada@example.com" }
            let program = try bench.start(["sign-in", "--scope", "openid"])
            let shown = try await address(shownBy: bench)
            #expect(shown.hasPrefix(bench.sandbox.url + "/authorize?"))
            try await visit(shown)
            let run = try await bench.finish(program)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try bench.tokens["access_token"]?.string != nil)
            #expect(try await bench.run("status").status == 0)
        }
    }

    /// What somebody declines at Facebook is told, and asked for again.
    @Test func whatIsDeclinedAtFacebookIsTold() async throws {
        var person = SandboxUser(email: Bench.ada, password: "open-sesame-42")
        person.facebook.declines = ["email"]
        try await Bench.facebook(users: [person]) { bench in
            var bench = bench.withSecret
            bench.options += ["--redirect-uri", "http://localhost:0/callback", "--scope", "public_profile,email"]
            for options in [[], ["--auth-type", "rerequest"]] {
                let program = try bench.start(["sign-in"] + options)
                let shown = try await address(shownBy: bench)
                #expect(shown.contains("auth_type=rerequest") == !options.isEmpty)
                // The sandbox takes a name in place of the form.
                try await visit(shown + "&user=\(Bench.ada)")
                let run = try await bench.finish(program)
                #expect(run.status == 0 && run.errors.contains("Declined: email."), "\(run.errors)")
            }
        }
    }

    @Test func anotherStateIsNotBelieved() async throws {
        try await OAuthTests.run { bench in
            var bench = bench
            bench.options += ["--redirect-uri", "http://127.0.0.1/callback"]
            let program = try bench.start(["sign-in"])
            let shown = try await address(shownBy: bench)
            let query = try #require(
                shown.components(separatedBy: "redirect_uri=").last?.components(separatedBy: "&").first
            )
            let place = query.replacing("%3A", with: ":").replacing("%2F", with: "/")
            #expect(place.hasPrefix("http://127.0.0.1:") && place.hasSuffix("/callback"))
            // An old tab, or somebody who guesses the port: the sign-in goes on without them.
            for stray in ["?code=stolen&state=another", ""] { try await visit(place + stray, isRefused: true) }
            try bench.requireRunning()
            let state = try #require(shown.firstMatch(of: /[?&]state=([^&]*)/)).output.1
            try await visit(place + "?error=access_denied&state=\(state)")
            let run = try await bench.finish(program)
            #expect(run.status == 77 && run.kind == "declined")
            #expect(bench.routes.allSatisfy { !$0.hasPrefix("POST /token") })
        }
    }

    @Test(arguments: ["https://127.0.0.1/", "http://127.0.0.1:99999/", "http://127.0.0.1.example.com/"])
    func whereNobodyCanListenTheAddressIsAskedFor(_ uri: String) async throws {
        try await OAuthTests.run { bench in
            var bench = bench
            bench.options += ["--redirect-uri", uri]
            let run = try await bench.run("sign-in")
            #expect(run.status == 65)
            #expect(run.kind == "challenge_required")
        }
    }

    /// The address that the program has shown.
    private func address(shownBy bench: Bench) async throws -> String {
        while true {
            try bench.requireRunning()
            let lines = contents(of: bench.directory + "/err").split(separator: "\n").map(String.init)
            if let line = lines.first(where: { $0.hasPrefix("  http") }), lines.last != "" {
                return String(line.dropFirst(2))
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Goes to an address, and follows where it leads, as a browser does.
    private func visit(_ url: String, isRefused: Bool = false) async throws {
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/env")
        curl.arguments = ["curl", "-fsSL", "-o", "/dev/null", url]
        let status = try await withCheckedThrowingContinuation { continuation in
            curl.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try curl.run() } catch { continuation.resume(throwing: error) }
        }
        #expect((status != 0) == isRefused)
    }
}

extension Bench {
    /// Fails if the program has given up.
    func requireRunning() throws {
        let errors = contents(of: directory + "/err")
        try #require(!errors.contains("auth-client: "), "\(errors)")
    }
}
