import AuthCryptography
import AuthRecovery
import AuthSandbox
import CurlTransport
import Foundation
import HTTPRecovery
import Hummingbird
import ServiceTrials
import Testing

@testable import SignInBackend

/// What a browser is known by: somebody who has planted a name has nothing of what its user signs in to.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BrowserNameTests {
    private let ada = "ada@example.com"

    private func run(_ body: (AuthSandbox, Backend) async throws -> Void) async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let directory = try TemporaryDirectory()
        defer { sandbox.stop() }
        try await body(sandbox, try await Backend(frontendAPI: sandbox.url, state: "\(directory.path)/state.sqlite"))
    }

    @Test func aNameThatWasPlantedIsNotTheNameOfWhoSignsIn() async throws {
        try await run { _, backend in
            let victim = Browser(cookies: ["browser": "planted"])
            let page = try await victim.post(
                "/sign-in",
                ["identifier": .string(ada), "password": "open-sesame-42"],
                to: backend
            )
            #expect(page.session?.hasPrefix("sess_") == true)
            let name = await victim.cookies["browser"]
            #expect(name?.isEmpty == false && name != "planted")
            for beginning in [
                ["identifier": .string(ada)], ["identifier": .string(ada), "password": "a-wrong-one"],
            ] as [JSONValue] {
                let attacker = Browser(cookies: ["browser": "planted"])
                #expect(try await attacker.post("/sign-in", beginning, to: backend).session == nil)
            }
        }
    }

    /// Who has begun the sign-in, and planted all that the browser was given, has nothing when it has ended.
    @Test func theNameOfASignInUnderWayIsOfNoUseOnceItHasEnded() async throws {
        try await run { sandbox, backend in
            let browser = Browser()
            let first = try await browser.post("/sign-in", ["identifier": .string(ada)], to: backend)
            let way = try #require(first.json["choose"]?.array?.first { $0["key"] == "email_code" })
            let second = try await browser.post("/sign-in/answer", ["choose": way], to: backend)
            #expect(second.asked == "email_code")
            let planter = await browser.window()
            let last = try await browser.answer(try #require(sandbox.outbox(to: ada).last?.code), at: backend)
            #expect(last.session?.hasPrefix("sess_") == true)
            let (present, former) = (await browser.cookies["browser"], await planter.cookies["browser"])
            #expect(present?.isEmpty == false && present != former)
            let answer = try await planter.answer("1", at: backend)
            #expect(answer.status == 409 && answer.session == nil)
            #expect(try await planter.post("/sign-in", ["identifier": .string(ada)], to: backend).session == nil)
        }
    }

    @Test func theTokensMoveToTheNameOfTheEnd() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        let client = RecoveringClient(transport: CurlTransport(), runtime: Runtime())
        let signIns = try BrowserSignIns(frontendAPI: sandbox.url, client: client, key: .generate())
        let first = try await signIns.begin(identifier: ada, password: nil)
        guard case .choose(let factors) = first.turn.step else {
            Issue.record("\(first.turn.step)")
            return
        }
        let second = try await signIns.step(
            first.browser,
            ticket: try #require(first.turn.ticket),
            .choose(factors.first { $0.key == .emailCode })
        )
        #expect(second.browser == first.browser)
        let code = Secret(try #require(sandbox.outbox(to: ada).last?.code))
        let last = try await signIns.step(
            second.browser,
            ticket: try #require(second.turn.ticket),
            .answer(.text(code))
        )
        #expect(last.browser != first.browser)
        let former = try await signIns.tokens(of: first.browser).read().credentials
        let present = try await signIns.tokens(of: last.browser).read().credentials
        #expect(former.clientToken == nil && former.sessionID == nil)
        #expect(present.clientToken != nil && present.sessionID?.hasPrefix("sess_") == true)
        await client.shutdown()
    }

    @Test func overTLSNobodyElseSetsTheCookies() {
        let cookies = SignInCookies(isSecure: true)
        for cookie in [cookies.browser(Secret("a")), cookies.ticket(Secret("b")), cookies.ticket(nil)] {
            let text = cookie.description
            #expect(text.hasPrefix("__Host-"))
            for attribute in ["Path=/", "Secure", "HttpOnly", "SameSite=Strict"] {
                #expect(text.components(separatedBy: "; ").contains(attribute), "\(text)")
            }
        }
    }
}
