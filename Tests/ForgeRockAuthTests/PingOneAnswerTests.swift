import ForgeRockAuth
import HTTPRecovery
import HTTPTypes
import Testing

@Suite("PingOne's and DaVinci's answers by their codes")
struct PingOneAnswerTests {
    typealias Row = (code: String, detail: String?, kind: Outcome.Kind, remedies: [Outcome.Remedy])

    /// The code that decides, and what stands beside it: the innermost where there are details.
    static let rows: [Row] = [
        (
            "INVALID_DATA", #"{"code":"INVALID_VALUE","target":"password","innerError":{"failuresRemaining":4}}"#,
            .invalidCredentials, [.askUser]
        ),
        (
            "INVALID_DATA",
            #"{"code":"INVALID_VALUE","target":"newPassword","innerError":{"unsatisfiedRequirements":["length"]}}"#,
            .passwordRejected, [.askUser]
        ),
        (
            "INVALID_DATA",
            #"{"code":"INVALID_VALUE","target":"city","innerError":{"unsatisfiedRequirements":["length"]}}"#,
            .invalidRequest, [.askUser]
        ),
        ("INVALID_DATA", #"{"code":"INVALID_VALUE","target":"email","message":"m"}"#, .invalidRequest, [.askUser]),
        (
            "INVALID_DATA", #"{"code":"INVALID_OTP","innerError":{"attemptsRemaining":2}}"#,
            .challengeIncorrect, [.askUser]
        ),
        ("INVALID_OTP", nil, .challengeIncorrect, [.askUser]),
        (
            "INVALID_DATA", #"{"code":"INVALID_OTP","innerError":{"attemptsRemaining":0}}"#,
            .challengeExpired, [.newChallenge]
        ),
        ("INVALID_DATA", #"{"code":"PASSWORD_LOCKED_OUT"}"#, .accountLocked, [.contactAdmin]),
        (
            "INVALID_DATA", #"{"code":"INVALID_VALUE","innerError":{"code":"PASSWORD_LOCKED_OUT"}}"#,
            .accountLocked, [.contactAdmin]
        ),
        ("PASSWORD_LOCKED_OUT", nil, .accountLocked, [.contactAdmin]),
        ("INVALID_REQUEST", #"{"code":"PASSWORD_EXPIRED"}"#, .passwordExpired, [.changePassword]),
        ("MUST_CHANGE_PASSWORD", nil, .passwordExpired, [.changePassword]),
        ("NO_PASSWORD", nil, .factorUnavailable, [.switchFactor]),
        ("INVALID_REQUEST", #"{"code":"EXTERNAL"}"#, .factorUnavailable, [.switchFactor]),
        ("REQUEST_LIMITED", nil, .rateLimited, [.wait]),
        ("ACCESS_FAILED", nil, .permissionDenied, [.contactAdmin]),
        ("NOT_FOUND", nil, .notFound, []),
        ("INVALID_DATA", #"{"code":"UNIQUENESS_VIOLATION","target":"username"}"#, .conflict, []),
        ("INVALID_DATA", nil, .invalidRequest, [.fixRequest]),
        ("INVALID_REQUEST", nil, .invalidRequest, [.fixRequest]),
        ("UNEXPECTED_ERROR", nil, .unavailable, [.retry]),
    ]

    private static let flow = "/\(environment)/flows/7b9a3a0e-1111-4111-8111-000000000001"
    private static let environment = "5f4c2d1e-0000-4000-8000-000000000001"

    /// The envelope of PingOne, and the same inside DaVinci's.
    private static func bodies(_ row: Row) -> [(String, String)] {
        let details = row.detail.map { #","details":[\#($0)]"# } ?? ""
        let plain = #"{"id":"t1","code":"\#(row.code)","message":"It is so"\#(details)}"#
        let wrapped =
            #"{"id":"t1","code":"invalidInput","message":"It is so","details":[{"statusCode":400,"rawResponse":"#
            + #"{"id":"r","code":"\#(row.code)","message":"m"\#(details)}}]}"#
        return [
            ("/v1/environments/\(environment)/users/u1/password", plain), (flow, plain),
            ("/env/davinci/policy/1/start", wrapped),
        ]
    }

    @Test(arguments: rows.indices)
    func theInnermostCodeDecides(_ index: Int) {
        let row = Self.rows[index]
        // PingOne may change a status within its class.
        for status in [400, 401, 403, 404, 409] {
            for (path, body) in Self.bodies(row) {
                let outcome = Exchanged(status: status, body: body, presented: .state, path: path).outcome
                #expect(outcome.kind == row.kind, "\(status) \(path)")
                #expect(outcome.remedies == row.remedies, "\(status) \(path)")
                #expect(outcome.traceID == "t1" && outcome.message == "It is so")
                #expect(outcome.tokenAction == .keep)
                #expect(outcome.scope == (row.kind == .accountLocked ? .account : outcome.scope))
            }
        }
        for (path, body) in Self.bodies(row) {
            let outage = Exchanged(status: 503, body: body, presented: .state, path: path).outcome
            #expect(outage.kind == .unavailable && outage.tokenAction == .keep)
            let limited = Exchanged(status: 429, body: body, presented: .state, path: path).outcome
            #expect(limited.kind == .rateLimited && limited.traceID == "t1")
        }
    }

    @Test(arguments: [
        #"{"id":"t","code":"INVALID_DATA","message":"m","details":[{"code":"PASSWORD_LOCKED_OUT","innerError":{"secondsUntilUnlock":900}}]}"#,
        #"{"id":"t","code":"PASSWORD_LOCKED_OUT","message":"m","secondsUntilUnlock":"900"}"#,
        #"{"id":"t","code":"INVALID_REQUEST","message":"m","account":{"status":"LOCKED","secondsUntilUnlock":900,"lockedAt":"2026-01-01T00:00:00Z"}}"#,
        #"{"id":"t","code":"INVALID_DATA","message":"m","password":{"status":"PASSWORD_LOCKED_OUT","secondsUntilUnlock":900}}"#,
    ])
    func aLockStatesItsTimeAtAnyDepth(body: String) {
        let outcome = Exchanged(status: 400, body: body, path: Self.flow).outcome
        #expect(outcome.kind == .accountLocked && outcome.lockout == .remaining(.seconds(900)))
        #expect(outcome.remedies == [.wait, .contactAdmin] && outcome.userMessage != nil)
        let without = body.replacing("secondsUntilUnlock", with: "x")
        #expect(Exchanged(status: 400, body: without, path: Self.flow).outcome.lockout == .indefinite)
        let absurd = body.replacing("900", with: "1e400")
        #expect(Exchanged(status: 400, body: absurd, path: Self.flow).outcome.kind == .accountLocked)
    }

    @Test(arguments: [
        (Outcome.CredentialKind.access, Outcome.TokenAction.clear, Outcome.CredentialKind.access),
        (.refresh, .clear, .refresh), (.state, .keep, .access), (.session, .keep, .session),
    ])
    func aTokenThatIsRefusedIsTheOnePresented(
        presented: Outcome.CredentialKind,
        action: Outcome.TokenAction,
        credential: Outcome.CredentialKind
    ) {
        let body = #"{"id":"t","code":"INVALID_TOKEN","message":"m"}"#
        for status in [401, 403] {
            let outcome = Exchanged(status: status, body: body, presented: presented, path: "/v1/environments").outcome
            #expect(outcome.kind == .credentialRejected && outcome.credential == credential)
            #expect(outcome.tokenAction == action && outcome.remedies.last == .reauthenticate)
        }
    }

    @Test(
        arguments: [
            (#"{"id":"f","status":"COMPLETED"}"#, .ok, []),
            (#"{"id":"f","status":"USERNAME_PASSWORD_REQUIRED"}"#, .continue, [.askUser]),
            (#"{"id":"f","status":"OTP_REQUIRED"}"#, .continue, [.askUser]),
            (#"{"id":"f","status":"PASSWORD_EXPIRED"}"#, .passwordExpired, [.changePassword]),
            (#"{"id":"f","status":"MUST_CHANGE_PASSWORD"}"#, .passwordExpired, [.changePassword]),
            (
                #"{"id":"f","status":"FAILED","error":{"code":"PASSWORD_LOCKED_OUT","message":"m"}}"#,
                .accountLocked, [.contactAdmin]
            ),
            (#"{"id":"f","status":"FAILED","error":{"code":"NOT_FOUND"}}"#, .notFound, []),
            (#"{"id":"f","status":"FAILED","error":{"code":"NEVER_HEARD_OF"}}"#, .unknown, []),
        ] as [(String, Outcome.Kind, [Outcome.Remedy])]
    )
    func aFlowTellsItsState(body: String, kind: Outcome.Kind, remedies: [Outcome.Remedy]) {
        let outcome = Exchanged(status: 200, body: body, presented: .state, method: .get, path: Self.flow).outcome
        #expect(outcome.kind == kind && outcome.remedies == remedies)
        #expect(outcome.statusType == (try? JSONValue(parsing: body))?["status"]?.string)
    }

    /// The same words from somebody else mean nothing.
    @Test func anApplicationsOwnAnswersAreNotPingOnes() {
        for body in [
            #"{"status":"COMPLETED","account":{"status":"LOCKED"}}"#, #"{"status":"LOCKED"}"#,
            #"{"code":"NOT_FOUND"}"#, #"{"id":"x","code":"NOT_MINE","message":"m"}"#,
        ] {
            #expect(Exchanged(status: 200, body: body, presented: .session, path: "/ig/app").outcome.kind == .ok)
            let refused = Exchanged(status: 400, body: body, presented: .session, path: "/ig/app").outcome
            #expect(refused.kind == .invalidRequest)
        }
    }

    /// Only the authentication service puts its errors into a 200; what another success calls its members is its own affair.
    @Test(arguments: ["/ig/app", Exchanged.users, "/openidm/managed/user", Exchanged.userInfo])
    func anApplicationsSuccessIsOneWhateverItHolds(path: String) {
        for body in [
            #"{"id":7,"errorMessage":""}"#, #"{"id":7,"errorMessage":"none"}"#, #"{"code":401,"name":"Rhode Island"}"#,
            #"{"code":"450","failure":true}"#, #"{"code":503,"message":"m"}"#,
        ] {
            for presented in [Outcome.CredentialKind.access, .session] {
                let outcome = Exchanged(status: 200, body: body, presented: presented, path: path).outcome
                #expect(outcome.kind == .ok && outcome.tokenAction == .keep, "\(body) \(outcome)")
            }
        }
        let empty = Exchanged(status: 200, body: #"{"errorMessage":""}"#, presented: .state).outcome
        #expect(empty.kind != .invalidCredentials)
    }

    /// What an application says of itself in PingAM's words says nothing of the session: the server is asked.
    @Test func anApplicationsOwnRefusalDoesNotEndTheSession() {
        for path in ["/ig/app", "/app/pay"] {
            let outcome = Exchanged(
                body: Exchanged.error(401, "Access Denied"),
                presented: .session,
                path: path
            ).outcome
            #expect(outcome.kind == .credentialRejected && outcome.tokenAction == .keep)
        }
    }
}

@Suite("PingAM's wrong places and ways to the sign-in")
struct ForgeRockPlaceTests {
    @Test(arguments: [
        Exchanged.authenticate, Exchanged.sessions, Exchanged.users, Exchanged.token, Exchanged.authorize,
    ])
    func aRealmOrAHostThatIsNotThereIsSetUpWrongly(path: String) {
        for status in [400, 404] {
            for (text, parameter) in [
                ("Invalid realm, /beta", "realm"), ("Realm not found", "realm"),
                (#"FQDN "id.example.org" is not valid."#, nil),
            ] as [(String, String?)] {
                let word = #"{"error":"invalid_request","error_description":\#(JSONValue.string(text))}"#
                let bodies =
                    path.contains("oauth2") ? [word, Exchanged.error(status, text)] : [Exchanged.error(status, text)]
                for body in bodies {
                    for presented in [Outcome.CredentialKind.session, .refresh] {
                        let outcome = Exchanged(status: status, body: body, presented: presented, path: path).outcome
                        #expect(outcome.kind == .misconfigured && outcome.remedies == [.fixRequest], "\(body)")
                        #expect(outcome.parameter == parameter && outcome.tokenAction == .keep)
                    }
                }
            }
        }
    }

    @Test(arguments: [
        "https://id.example.com/am/?goto=https%3A%2F%2Fx&realm=/", "/am/XUI/?realm=/alpha#login",
        "https://id.example.com/am/UI/Login", "/openam/UI/Login?x=1", "/login",
        "https://app.example.com/login?next=%2F",
    ])
    func theWayToTheSignInRefusesTheSessionAndKeepsIt(location: String) {
        for path in ["/ig/app", Exchanged.authorize, "/app"] {
            for status in [302, 303, 307] {
                let lines = [("Location", location)]
                let outcome = Exchanged(status: status, lines: lines, presented: .session, path: path).outcome
                #expect(outcome.kind == .credentialRejected && outcome.credential == .session)
                #expect(outcome.tokenAction == .keep && outcome.remedies == [.reauthenticate])
                #expect(outcome.processed == .no)
                for other in [Outcome.CredentialKind.access, nil] {
                    let plain = Exchanged(status: status, lines: lines, presented: other, path: path).outcome
                    #expect(plain.kind == .ok)
                }
            }
        }
    }

    @Test(arguments: [
        "https://app.example.com/login/callback?code=1&state=2", "/elsewhere", "/blog/logins", "/am/console",
        "https://app.example.com/login?error=access_denied&state=2",
    ])
    func otherRedirectsAreWhatTheyWere(location: String) {
        let outcome = Exchanged(status: 302, lines: [("Location", location)], presented: .session, path: "/ig/app")
            .outcome
        #expect(outcome.kind != .credentialRejected)
    }
}
