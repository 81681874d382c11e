import ForgeRockAuth
import HTTPRecovery
import HTTPTypes
import Testing

@Suite("PingAM's errors in all their forms")
struct ForgeRockEnvelopeTests {
    @Test func lockoutsHoldForTheAccountAndStateTheirTimeWhereTheServerDoes() {
        let text = "Your account has been locked. Try again in 15 minutes."
        let timed = Exchanged(body: Exchanged.error(401, text)).outcome
        #expect(timed.lockout == .remaining(.seconds(900)) && timed.remedies == [.wait, .contactAdmin])
        #expect(timed.scope == .account && timed.userMessage == text && timed.retryAfter == nil)
        let byField = Exchanged(
            body: Exchanged.error(401, "User Locked Out."),
            lines: [("Retry-After", "60")]
        ).outcome
        #expect(byField.lockout == .remaining(.seconds(60)) && byField.retryAfter == nil)
        let without = Exchanged(body: Exchanged.error(401, "Your account has been locked.")).outcome
        #expect(without.lockout == .indefinite)
        let warning = Exchanged(
            body: Exchanged.error(401, "Warning: You will be locked out after 1 more failure(s).")
        ).outcome
        #expect(warning.lockout == nil && warning.userMessage?.hasPrefix("Warning") == true)
    }

    @Test(arguments: [
        #"{"code":"401","message":"Login failure"}"#, #"{"errorMessage":"Login failure","failureUrl":""}"#,
        #"{"code":401,"message":"Login failure","failureUrl":"/x"}"#,
        #"{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"failureUrl":""}}"#,
        #"{"code":401,"detail":null}"#, #"{"code":401,"message":7,"detail":"x"}"#, #"{}"#, "",
    ])
    func everyFormOfTheEnvelopeIsRead(body: String) {
        #expect(Exchanged(body: body).outcome.kind == .invalidCredentials)
    }

    @Test func anEnvelopeInsideA200CountsAsWhatItSays() {
        let outcome = Exchanged(status: 200, body: Exchanged.error(401, "Login failure")).outcome
        #expect(outcome.kind == .invalidCredentials && outcome.processed == .yes && outcome.code == "401")
        let denied = Exchanged(
            status: 200,
            body: Exchanged.error(401, "Access Denied"),
            presented: .session,
            path: Exchanged.sessions
        ).outcome
        #expect(denied.kind == .credentialRejected && denied.tokenAction == .clear)
        let outage = Exchanged(status: 200, body: Exchanged.error(503, "x")).outcome
        #expect(outage.kind == .unavailable)
    }

    @Test func aFailedHTTPCallbackLeavesTheJourneyAlive() {
        let outcome = Exchanged(body: #"{"failure":true,"reason":"http-auth-failed","authId":"a.b.c"}"#).outcome
        #expect(outcome.kind == .factorUnavailable && outcome.remedies == [.switchFactor, .askUser])
        #expect(outcome.tokenAction == .rotate && outcome.code == "http-auth-failed")
    }

    @Test(arguments: [400, 401, 403, 404, 502, 503, 408, 429, 200])
    func pagesInPlaceOfTheAPIRefuseNothing(status: Int) {
        for path in [Exchanged.authenticate, Exchanged.sessions, Exchanged.users] {
            for presented in [Outcome.CredentialKind.state, .session] {
                let outcome = Exchanged(status: status, body: "<html>", presented: presented, path: path).outcome
                let expected: Outcome.Kind =
                    switch status {
                    case 429: .rateLimited
                    // A journey is over with it, whoever says so.
                    case 408 where path == Exchanged.authenticate: .flowExpired
                    case 408, 500...: .unavailable
                    default: .unreadable
                    }
                #expect(outcome.kind == expected)
                #expect(outcome.tokenAction == (expected == .flowExpired && presented == .state ? .clear : .keep))
            }
        }
    }

    @Test(arguments: [Outcome.CredentialKind.refresh, .code, .access, .session])
    func whatOAuthDoesNotFindRefusesNothing(presented: Outcome.CredentialKind) {
        let body = #"{"error":"not_found","error_description":"No OpenID Connect provider for realm /alpha"}"#
        for path in [Exchanged.token, Exchanged.userInfo, Exchanged.authorize] {
            let outcome = Exchanged(status: 404, body: body, presented: presented, path: path).outcome
            #expect(outcome.kind == .notFound && outcome.code == "not_found" && outcome.remedies == [])
            #expect(outcome.tokenAction == .keep && outcome.credential == nil)
        }
    }

    /// These endpoints say in JSON why they refuse: a page, a text or half an answer is somebody else's.
    @Test(arguments: ["<html><body>Blocked</body></html>", "Blocked by policy", #"{"err"#])
    func whatCannotBeReadOfOAuthKeepsEverything(body: String) {
        for status in [400, 401, 403, 404] {
            let token = Exchanged(status: status, body: body, presented: .refresh, path: Exchanged.token).outcome
            #expect(token.kind == .unreadable && token.tokenAction == .keep && token.remedies == [], "\(status)")
            let profile = Exchanged(status: status, body: body, presented: .access, path: Exchanged.userInfo).outcome
            #expect(profile.kind == .unreadable && profile.tokenAction == .keep && profile.remedies == [], "\(status)")
        }
    }

    @Test func anErrorThatNobodyKnowsComesWithARedirect() {
        let lines = [("Location", "https://app/cb?error=word_of_tomorrow&error_description=x&state=1")]
        let outcome = Exchanged(status: 302, lines: lines, presented: .session, path: Exchanged.authorize).outcome
        #expect(outcome.kind == .unknown && outcome.code == "word_of_tomorrow" && outcome.tokenAction == .keep)
    }

    @Test func throttlesAreThrottlesWhateverTheySay() {
        let body = #"{"id":"x","code":"REQUEST_LIMITED","message":"slow"}"#
        let outcome = Exchanged(status: 429, body: body, lines: [("Retry-After", "7")]).outcome
        #expect(outcome.kind == .rateLimited && outcome.code == "REQUEST_LIMITED" && outcome.retryAfter == .seconds(7))
        #expect(outcome.remedies == [.wait] && outcome.processed == .no && outcome.tokenAction == .keep)
        let dressed = Exchanged(status: 429, body: Exchanged.error(401, "Login failure", number: "107")).outcome
        #expect(dressed.kind == .rateLimited)
    }

    @Test func aStatedDelayIsWaitedOut() {
        let outcome = Exchanged(status: 503, body: Exchanged.error(503, "x"), lines: [("Retry-After", "5")]).outcome
        #expect(outcome.kind == .unavailable && outcome.remedies == [.wait] && outcome.processed == .no)
    }
}
