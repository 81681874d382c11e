import AuthRecovery
import AuthSandbox
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Links of e-mails, against a server that keeps its own books.
@Suite("Clerk's links at the sandbox")
struct ClerkSandboxLinkTests {
    private static func linked(_ configuration: ClerkConfiguration) throws -> ClerkSandboxBench {
        try ClerkSandboxBench({ $0.firstFactors = ["email_link"] }, configuration: configuration)
    }

    @Test func aLinkThatIsOpenedAnywhereIsWaitedFor() async throws {
        let bench = try Self.linked(ClerkConfiguration(redirectURL: "https://www.example.com/", waitsForLinks: true))
        var flow = bench.clerk.signInFlow(.identifier(ClerkSandboxBench.name))
        guard case .pending(let question, let pause) = try await flow.step(.begin).step else {
            Issue.record("not waited for")
            return
        }
        #expect(question.key == .emailLink && pause.duration == .seconds(3))
        bench.clock.advance(by: .seconds(3))
        guard case .pending = try await flow.step(.poll).step else {
            Issue.record("nobody has opened it")
            return
        }
        #expect(bench.visit(bench.code).hasPrefix("https://www.example.com/"))
        bench.clock.advance(by: .seconds(3))
        guard case .finished(let session) = try await flow.step(.poll).step else {
            Issue.record("it was opened")
            return
        }
        #expect(session.status == .active && bench.count("POST client/sign_ins/{id}/prepare_first_factor") == 1)
    }

    @Test func aLinkThatNobodyOpensIsWaitedForAsLongAsItLives() async throws {
        let bench = try Self.linked(ClerkConfiguration(redirectURL: "https://www.example.com/", waitsForLinks: true))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn(SandboxPerson(bench), password: nil)
        }
        #expect(error?.kind == .challengeExpired)
        let asked = bench.count("GET client/sign_ins/{id}")
        #expect(asked > 150 && asked <= 201)
    }

    @Test func aLinkThatIsBoundComesBackHere() async throws {
        let bench = try Self.linked(ClerkConfiguration(redirectURL: "app://back"))
        let person = SandboxPerson(bench)
        #expect(try await bench.signIn(person, password: nil).status == .active)
        #expect(person.keys == [.emailLink] && bench.count("POST client/magic_links/complete") == 1)
    }

    /// What a link has led to, as the form that completes it by hand.
    private static func completion(of address: String, _ link: ClerkEmailLink) throws -> ProviderRequest.Content {
        let query = FormFields(parsing: try #require(address.split(separator: "?").last).utf8)
        var form = FormFields()
        for name in ["flow_id", "approval_token"] {
            let value: Secret = try #require(query[name].first)
            form.add(name, secret: value)
        }
        form.add("code_verifier", secret: link.proof.verifier)
        return .form(form)
    }

    private static let completionPath = "/v1/client/magic_links/complete"

    @Test func aLinkThatIsCompletedByHandBringsItsTicketOnce() async throws {
        let bench = try Self.linked(ClerkConfiguration(redirectURL: "app://back"))
        let link = try await bench.clerk.sendEmailLink(identifier: ClerkSandboxBench.name)
        let address = bench.visit(bench.code)
        let form = try Self.completion(of: address, link)
        let forged = try Self.completion(of: address, ClerkEmailLink(proof: OAuthClient.ProofKey()))
        let stranger = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.send(.post, path: Self.completionPath, body: forged)
        }
        #expect(stranger?.outcome.code == "pkce_verification_failed" && stranger?.kind == .flowExpired)
        let answer = try await bench.clerk.send(.post, path: Self.completionPath, body: form).json()
        let ticket = Secret(try #require(answer["response"]?["ticket"]?.string))
        let again = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.send(.post, path: Self.completionPath, body: form)
        }
        #expect(again?.outcome.code == "approval_token_consumed" && again?.kind == .flowExpired)
        #expect(bench.count("POST client/magic_links/complete") == 3)
        let session = try await bench.clerk.signIn(ticket: ticket, answering: SandboxPerson(bench))
        #expect(session.status == .active && session.identifiers.contains(ClerkSandboxBench.name))
    }

    /// A lost answer leaves open whether the link is used up: it is not presented again.
    @Test func aLinkThatIsCompletedByHandIsSentOnce() async throws {
        let bench = try Self.linked(ClerkConfiguration(redirectURL: "app://back"))
        let link = try await bench.clerk.sendEmailLink(identifier: ClerkSandboxBench.name)
        let form = try Self.completion(of: bench.visit(bench.code), link)
        bench.add(SandboxFault(.resetAfter, method: "POST", path: "*/magic_links/complete"))
        let lost = await #expect(throws: RecoveryError.self) {
            try await bench.clerk.send(.post, path: Self.completionPath, body: form)
        }
        #expect(lost?.kind == .transport && bench.count("POST client/magic_links/complete") == 1)
    }

    /// The lock that a link meets is its own: it holds that link, by hand and in a sign-in, and no other.
    @Test(arguments: [true, false]) func aLinkThatIsLockedIsHeldHoweverItIsCompleted(byHand: Bool) async throws {
        let bench = try Self.linked(ClerkConfiguration(redirectURL: "app://back"))
        let link = try await bench.clerk.sendEmailLink(identifier: ClerkSandboxBench.name)
        let address = bench.visit(bench.code)
        let other = try await bench.clerk.sendEmailLink(identifier: ClerkSandboxBench.name)
        let otherAddress = bench.visit(bench.code)
        let form = try Self.completion(of: address, link)
        var fault = SandboxFault(.envelope, method: "POST", path: "*/magic_links/complete")
        (fault.status, fault.errorCode) = (403, "user_locked")
        bench.add(fault)
        func present(byHand: Bool) async -> RecoveryError? {
            await #expect(throws: RecoveryError.self) {
                if byHand {
                    _ = try await bench.clerk.send(.post, path: Self.completionPath, body: form)
                } else {
                    let person = SandboxPerson(bench)
                    _ = try await bench.clerk.signIn(link: link, ledTo: Secret(address), answering: person)
                }
            }
        }
        #expect(await present(byHand: byHand)?.kind == .accountLocked)
        for byHand in [true, false] { #expect(await present(byHand: byHand)?.kind == .accountLocked) }
        #expect(bench.count("POST client/magic_links/complete") == 1)
        let answer = try await bench.clerk.send(
            .post,
            path: Self.completionPath,
            body: try Self.completion(of: otherAddress, other)
        )
        #expect(answer.status == .ok)
    }
}
