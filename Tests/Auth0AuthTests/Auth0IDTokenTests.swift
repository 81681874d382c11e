import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import Auth0Auth

/// Whose an ID token is, and for whom.
@Suite("Auth0: ID tokens")
struct Auth0IDTokenTests {
    /// A token that is good for a long time, if nothing else is claimed.
    private static func token(_ claims: String, header: String = #"{"alg":"RS256"}"#) -> String {
        let end = claims.contains(#""exp""#) ? "" : #","exp":4102444800"#
        return "\(Base64.encodeForURL(header.utf8)).\(Base64.encodeForURL("{\(claims)\(end)}".utf8)).AA"
    }

    private static func tokens(_ claims: String, more: String = "") -> Auth0Bench.Step {
        .tokens(more: #","id_token":"\#(token(claims))"\#(more)"#)
    }

    @Test func theTenantsOwnIsKept() async throws {
        let bench = try Auth0Bench([
            Self.tokens(#""iss":"https://example.eu.auth0.com/","aud":["app"],"sub":"auth0|1""#)
        ])
        #expect(try await bench.signIn().subject == "auth0|1")
        #expect(await bench.tokens.read().credentials.auth0Identity?.subject == "auth0|1")
    }

    @Test func anIssuerBehindAnotherAddressIsNamed() async throws {
        let claims = #""iss":"https://id.example.com/","aud":"app","sub":"auth0|1""#
        let configuration = Auth0Configuration(clientID: "app", issuer: "https://id.example.com/")
        let bench = try Auth0Bench([Self.tokens(claims)], configuration: configuration)
        #expect(try await bench.signIn().subject == "auth0|1")
    }

    @Test(arguments: [
        (#""iss":"https://example.eu.auth0.com","aud":"app""#, "issuer_mismatch"),
        (#""iss":"https://evil.example/","aud":"app""#, "issuer_mismatch"), (#""aud":"app""#, "issuer_mismatch"),
        (#""iss":"https://example.eu.auth0.com/","aud":"other""#, "audience_mismatch"),
        (#""iss":"https://example.eu.auth0.com/""#, "audience_mismatch"),
        (good + #","azp":"other""#, "audience_mismatch"), (good + #","azp":["app"]"#, "audience_mismatch"),
        (good + #","exp":\#(now - 60)"#, "expiry_mismatch"), (good + #","exp":0"#, "expiry_mismatch"),
        (good + #","exp":"soon""#, "expiry_mismatch"), (good + #","exp":null"#, "expiry_mismatch"),
    ])
    func anothersSignsNobodyIn(claims: String, code: String) async throws {
        let bench = try Auth0Bench([Self.tokens(claims)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .invalidRequest && error?.outcome.code == code)
        #expect(await bench.tokens.read().credentials == Credentials() && bench.sent.count == 1)
    }

    private static let good = #""iss":"https://example.eu.auth0.com/","aud":"app","sub":"auth0|1""#
    private static let now = ManualClock().timeSource().wallTime.secondsSinceEpoch

    /// Two clocks may differ by a minute, and one of several audiences is named as the party.
    @Test(arguments: [#""exp":\#(now - 59)"#, #""exp":\#(now + 1),"azp":"app""#, #""exp":"\#(now + 1)""#])
    func whatIsGoodIsTaken(claims: String) async throws {
        let bench = try Auth0Bench([Self.tokens(Self.good + "," + claims)])
        #expect(try await bench.signIn().subject == "auth0|1")
    }

    /// The tenant's clock counts, as far as its answers tell it: a machine whose own is wrong signs people in.
    @Test(arguments: [(7200, nil), (-7200, "expiry_mismatch")] as [(Int64, String?)])
    func theTenantsClockCounts(behind: Int64, code: String?) async throws {
        let date = Timestamp(secondsSinceEpoch: Self.now - behind).httpDate
        let body =
            #"{"access_token":"A1","expires_in":60,"id_token":"\#(Self.token(Self.good + #","exp":\#(Self.now - 3600)"#))"}"#
        let bench = try Auth0Bench([.json(body, 200, ["date": date])])
        guard let code else {
            #expect(try await bench.signIn().subject == "auth0|1")
            return
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.outcome.code == code)
    }

    /// What says that nobody has signed it is not believed, though it comes over a connection that was checked.
    @Test(arguments: ["none", "None", "NONE"]) func whatNobodyHasSignedIsRefused(algorithm: String) async throws {
        let token = Self.token(Self.good, header: #"{"alg":"\#(algorithm)"}"#)
        let bench = try Auth0Bench([.tokens(more: #","id_token":"\#(token)""#)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.outcome.code == "algorithm_mismatch")
        #expect(await bench.tokens.read().credentials == Credentials())
    }

    /// A recovery code that is used up is told, whatever is wrong with the token beside the new one.
    @Test func aNewRecoveryCodeIsNotLostWithIt() async throws {
        let bench = try Auth0Bench([
            .wantsMore, .enrolled("recovery"), Self.tokens(#""aud":"app""#, more: #","recovery_code":"NEW""#),
        ])
        let error = await #expect(throws: Auth0UnkeptRecoveryCode.self) {
            try await bench.signIn(Answers([.backupCode: ["OLD"]]))
        }
        #expect(error?.recoveryCode == "NEW" && (error?.cause as? RecoveryError)?.outcome.code == "issuer_mismatch")
    }

    // MARK: Limits

    @Test(arguments: [
        ("/userinfo", 10), ("/passwordless/start", 50), ("/otp/challenge?x=1", 50), ("/oauth/device/code", 5),
        ("/below/userinfo", 10), ("/oauth/token", 60),
    ])
    func publishedRatesAreKept(path: String, count: Int) async throws {
        let limits = Recovery.PublishedLimits.auth0()
        let request = HTTPRequest(method: .post, scheme: "https", authority: "example.eu.auth0.com", path: path)
        var options = RequestOptions()
        options.credentialID = "ada"
        let context = CallContext(options: options, runtime: Runtime(time: ManualClock().timeSource()))
        var free = 0
        for _ in 0..<60 {
            switch await limits.admit(PlannedAttempt(request), context: context) {
            case .go, .wait(.zero, _, _): free += 1
            default: break
            }
        }
        #expect(free == count)
        // Another person's profile is another line; codes and devices are counted for all.
        options.credentialID = "grace"
        let other = CallContext(options: options, runtime: context.runtime)
        let answer = await limits.admit(PlannedAttempt(request), context: other)
        if case .wait(let delay, _, _) = answer {
            #expect((delay == .zero) == path.hasSuffix("/userinfo"))
        }
    }

    /// What comes with a renewal is checked as what came with the sign-in, and it names the same person.
    @Test(arguments: [
        (#""iss":"https://example.eu.auth0.com/","aud":"app","sub":"auth0|1""#, nil),
        (#""iss":"https://example.eu.auth0.com/","aud":"app","sub":"auth0|2""#, "subject_mismatch"),
        (#""iss":"https://example.eu.auth0.com/","aud":"other","sub":"auth0|1""#, "audience_mismatch"),
        (#""iss":"https://evil.example/","aud":"app","sub":"auth0|1""#, "issuer_mismatch"),
        (good + #","exp":\#(now - 61)"#, "expiry_mismatch"),
    ])
    func aRenewalsIsCheckedToo(claims: String, code: String?) async throws {
        let first = #""iss":"https://example.eu.auth0.com/","aud":"app","sub":"auth0|1""#
        let bench = try Auth0Bench([Self.tokens(first), Self.tokens(claims + #","n":2"#)])
        _ = try await bench.signIn()
        let held = await bench.tokens.read().credentials
        guard let code else {
            #expect(try await bench.auth0.refresh().subject == "auth0|1")
            #expect(await bench.tokens.read().credentials.idToken != held.idToken)
            return
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.auth0.refresh() }
        #expect(error?.outcome.code == code)
        #expect(await bench.tokens.read().credentials.idToken == held.idToken)
    }

    /// A tenant whose keys cannot be had has renewed all the same: the tokens are kept, and nobody new is named.
    @Test func aRenewalStandsWithoutTheKeys() async throws {
        struct FirstAlone: OAuthClient.SignatureVerifier {
            func isSigned(_ token: Secret, withOneOf keys: JSONValue) -> Bool {
                UnverifiedJWT(token)?.claims["n"] == nil
            }
        }
        let claims = #""iss":"https://example.eu.auth0.com/","aud":"app","sub":"auth0|1""#
        let next = Self.token(claims + #","n":2"#)
        let bench = try Auth0Bench(
            [
                Self.tokens(claims), .json(#"{"keys":[]}"#),
                .tokens("A2", refresh: "R2", more: #","id_token":"\#(next)""#), .status(403),
            ],
            configuration: Auth0Configuration(clientID: "app", signatures: FirstAlone(), realm: "people")
        )
        _ = try await bench.signIn()
        let held = await bench.tokens.read().credentials
        _ = try await bench.clock.skippingWaits { try await bench.auth0.refresh() }
        let renewed = await bench.tokens.read().credentials
        #expect(renewed.idToken == held.idToken && renewed.accessToken == "A2")
        #expect(bench.transport.received.last?.request.path == "/.well-known/jwks.json")
    }
}
