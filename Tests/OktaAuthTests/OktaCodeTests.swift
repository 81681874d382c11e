import HTTPRecovery
import HTTPTypes
import OktaAuth
import Testing

@Suite("Okta's error codes")
struct OktaCodeTests {
    private static let authn = "/api/v1/authn"
    private static let change = "/api/v1/authn/credentials/change_password"
    private static let reset = "/api/v1/authn/credentials/reset_password"

    static let requests: [Row] = [
        Row(1, 400, .invalidRequest, [.fixRequest], at: authn),
        Row(1, 400, .invalidRequest, [.fixRequest, .askUser], causes: ["phoneNumber: exists"], at: authn),
        Row(1, 400, .passwordRejected, [.askUser], causes: ["password: Password requirements were not met."]),
        Row(3, 400, .invalidRequest, [.fixRequest]),
        Row(8, 404, .notFound),
        Row(7, 404, .notFound, presenting: .access, .get, at: "/api/v1/users/x"),
        Row(7, 404, .notFound, summary: "Not found: Resource not found: me (Session)", presenting: .access),
        Row(
            7,
            404,
            .credentialRejected,
            [.reauthenticate],
            .clear,
            .session,
            summary: "Not found: Resource not found: me (Session)",
            presenting: .session,
            .get,
            at: "/api/v1/sessions/me"
        ),
        Row(6, 403, .permissionDenied, [.contactAdmin]),
        Row(15, 401, .permissionDenied, [.contactAdmin], presenting: .access, .get, at: "/api/v1/groups"),
        Row(15, 403, .permissionDenied, [.contactAdmin], presenting: .access, .get, at: "/api/v1/groups"),
        Row(16, 403, .conflict),
        Row(18, 400, .invalidRequest, [.fixRequest]),
        Row(19, 400, .invalidRequest, [.fixRequest]),
        Row(20, 400, .invalidRequest, [.fixRequest]),
        Row(21, 400, .invalidRequest, [.fixRequest]),
        Row(22, 405, .invalidRequest, [.fixRequest]),
        Row(58, 403, .stepUpRequired, [.stepUp]),
        Row(212, 403, .misconfigured, [.fixRequest]),
    ]

    static let sessions: [Row] = [
        Row(4, 401, .invalidCredentials, [.askUser], presenting: nil, at: authn),
        Row(4, 401, .invalidCredentials, [.askUser], at: authn),
        Row(4, 401, .credentialRejected, [.restartFlow], .clear, .code, presenting: .code, at: authn),
        Row(4, 401, .credentialRejected, [.restartFlow], .clear, .code, presenting: .code, at: "/api/v1/sessions"),
        Row(4, 401, .credentialRejected, [.restartFlow], .keep, .code, presenting: nil, at: "/api/v1/sessions"),
        Row(207, 401, .invalidCredentials, [.askUser], presenting: nil, at: authn),
        Row(5, 403, .credentialRejected, [.reauthenticate], .clear, .session, presenting: .session, .get, at: "/x"),
        Row(5, 403, .credentialRejected, [.reauthenticate], .keep, .session, presenting: nil, .get, at: "/x"),
        Row(11, 401, .flowExpired, [.restartFlow], .clear),
        Row(11, 401, .flowExpired, [.restartFlow], .keep, presenting: nil),
        Row(
            11,
            401,
            .credentialRejected,
            [.restartFlow],
            .clear,
            .code,
            presenting: .code,
            at: "/api/v1/authn/recovery/token"
        ),
        Row(
            11,
            401,
            .credentialRejected,
            [.refreshCredential, .reauthenticate],
            .clear,
            .access,
            presenting: .access,
            .get,
            at: "/api/v1/users/me"
        ),
        Row(11, 401, .credentialRejected, [.fixRequest], .keep, .client, presenting: .client, .get, at: "/api/v1/x"),
        Row(
            11,
            401,
            .credentialRejected,
            [.refreshCredential, .reauthenticate],
            .keep,
            .access,
            presenting: nil,
            .get,
            at: "/api/v1/x"
        ),
        Row(32, 403, .permissionDenied, [.contactAdmin], presenting: nil, at: "/api/v1/authn/recovery/unlock"),
        Row(34, 403, .permissionDenied, [.contactAdmin], presenting: nil, at: "/api/v1/authn/recovery/password"),
        Row(35, 403, .permissionDenied, [.contactAdmin], at: change),
        Row(38, 403, .accountBlocked, [.contactAdmin]),
        Row(69, 403, .accountLocked, [.unlock, .contactAdmin], .clear),
        Row(119, 403, .accountLocked, [.contactAdmin]),
        Row(79, 403, .stateConflict, [.resync]),
        Row(95, 403, .notFound, presenting: nil, at: "/api/v1/authn/recovery/password"),
        Row(105, 403, .challengeExpired, [.restartFlow], .clear, presenting: .code),
        Row(110, 403, .challengeExpired, [.restartFlow]),
        Row(259, 403, .policyBlocked),
        Row(259, 403, .passwordCompromised, [.switchFactor, .changePassword], summary: "Breached credential"),
    ]

    static let passwords: [Row] = [
        Row(14, 403, .invalidCredentials, [.askUser], at: change),
        Row(14, 403, .invalidCredentials, [.askUser], causes: ["oldPassword: wrong"], at: change),
        Row(14, 403, .invalidCredentials, [.askUser], causes: ["Old Password is not correct"], at: change),
        Row(14, 403, .passwordRejected, [.askUser], causes: ["Passwords must have 8 characters"], at: change),
        Row(14, 403, .passwordRejected, [.askUser], at: reset),
        Row(17, 403, .passwordRejected, [.askUser], at: reset),
        Row(80, 403, .passwordRejected, [.askUser], at: reset),
        Row(64, 401, .passwordExpired, [.changePassword], presenting: nil, at: authn),
    ]

    static let factors: [Row] = [
        Row(68, 403, .challengeIncorrect, [.askUser]),
        Row(87, 403, .challengeIncorrect, [.askUser], at: "/api/v1/authn/recovery/answer"),
        Row(87, 400, .challengeIncorrect, [.askUser], at: "/api/v1/authn/recovery/answer"),
        Row(82, 403, .challengeIncorrect, [.askUser]),
        Row(83, 403, .challengeIncorrect, [.askUser]),
        Row(70, 202, .challengePending, [.poll]),
        Row(73, 403, .declined),
        Row(97, 403, .factorUnavailable, [.askUser, .switchFactor]),
        Row(98, 400, .invalidRequest, [.askUser], at: "/api/v1/authn/factors"),
        Row(113, 409, .userActionRequired, [.askUser]),
        Row(138, 500, .factorUnavailable, [.switchFactor]),
        Row(139, 503, .factorUnavailable, [.switchFactor]),
        Row(191, 404, .challengeExpired, [.newChallenge, .restartFlow]),
    ]

    static let limits: [Row] = [
        Row(47, 429, .rateLimited, [.wait]),
        Row(109, 429, .rateLimited, [.wait, .askUser], delay: .seconds(30)),
        Row(118, 429, .rateLimited, [.wait, .askUser], delay: .seconds(5)),
        Row(133, 429, .rateLimited, [.wait, .askUser], delay: .seconds(30)),
        Row(146, 429, .quotaExhausted),
        Row(147, 429, .quotaExhausted),
        Row(186, 429, .quotaExhausted),
        Row(150, 403, .rateLimited, [.switchFactor, .wait]),
        Row(151, 403, .rateLimited, [.switchFactor, .wait]),
        Row(204, 429, .rateLimited, [.switchFactor, .wait]),
        Row(205, 429, .rateLimited, [.switchFactor, .wait]),
        // Whatever the body says, a 429 refuses nothing.
        Row(11, 429, .rateLimited, [.wait]),
        Row(4, 429, .rateLimited, [.wait], presenting: nil, at: authn),
    ]

    static let outages: [Row] = [
        Row(9, 500, .unavailable, [.retry]),
        Row(10, 503, .unavailable, [.wait, .retry]),
        Row(67, 504, .unavailable, [.resync, .askUser]),
        Row(134, 502, .unavailable, [.retry]),
        Row(137, 504, .unavailable, [.retry]),
        Row(181, 503, .unavailable, [.retry]),
        Row(239, 423, .unavailable, [.wait, .retry]),
        Row(240, 502, .unavailable, [.retry]),
        Row(241, 504, .unavailable, [.retry]),
        // No outage refuses a credential.
        Row(11, 503, .flowExpired, [.restartFlow], .keep),
        Row(5, 500, .credentialRejected, [.reauthenticate], .keep, .session, presenting: .session),
    ]

    @Test(arguments: requests + sessions + passwords + factors + limits + outages)
    func everyCodeHasItsMeaning(row: Row) {
        let outcome = row.check()
        #expect(outcome.code == row.recorded.outcome.code)
        #expect(outcome.code?.hasPrefix("E0000") == true)
        #expect(outcome.traceID == "oae1")
        let expected: Outcome.Processed =
            switch row.recorded.status {
            case 200..<300: .yes
            case 500...: .unknown
            default: .no
            }
        #expect(outcome.processed == expected)
    }

    @Test(arguments: [
        (400, Outcome.Kind.invalidRequest), (403, .permissionDenied), (404, .notFound), (503, .unavailable),
    ])
    func aCodeThatIsNotKnownLeavesItToTheStatus(status: Int, kind: Outcome.Kind) {
        let outcome = Recorded(status: status, body: Recorded.error("E0000999")).outcome
        #expect(outcome.kind == kind)
        #expect(outcome.code == "E0000999")
        #expect(outcome.tokenAction == .keep)
    }

    @Test func anUnknownCodeRefusesNoCredentialForGood() {
        for presented in [Outcome.CredentialKind.access, .state, .session, .refresh] {
            let recorded = Recorded(
                status: 401,
                body: Recorded.error("E0000999"),
                presented: presented,
                path: "/api/v1/x"
            )
            #expect(recorded.outcome.tokenAction == .keep)
            #expect(recorded.outcome.kind.isFailure)
        }
    }

    @Test func aCodeInASuccessIsReadToo() {
        #expect(Recorded(status: 200, body: Recorded.error("E0000011")).outcome.kind == .flowExpired)
        #expect(Recorded(status: 200, body: Recorded.error("E0000999")).outcome.kind == .unknown)
    }

    /// Bodies and the parameter that they name.
    static let parameters: [(String, String?)] = [
        (Recorded.error("E0000001", "Api validation failed: login"), "login"),
        (Recorded.error("E0000001", #"Api validation failed: \"password\""#), "password"),
        (Recorded.error("E0000001", "Api validation failed: x", causes: ["phoneNumber: is wrong"]), "phoneNumber"),
        (Recorded.error("E0000001", "Api validation failed: two words"), nil),
        (
            #"{"errorCode":"E0000001","errorCauses":[{"errorSummary":"x","reason":"R","location":"userName","locationType":"body","domain":"end user"}]}"#,
            "userName"
        ),
        (#"{"errorCode":"E0000001","errorCause":[{"errorSummary":"answer: too short"}]}"#, "answer"),
        (#"{"errorCode":"E0000001","errorCauses":["email: as text"]}"#, "email"),
        (#"{"errorCode":"E0000001"}"#, nil),
        (#"{"errorCode":"E0000001","errorCauses":null}"#, nil),
        (#"{"errorCode":"E0000001","errorCauses":{"errorSummary":"login: single"}}"#, "login"),
    ]

    @Test(arguments: parameters)
    func theParameterIsFoundWhereverItStands(body: String, parameter: String?) {
        let outcome = Recorded(status: 400, body: body, path: "/api/v1/authn").outcome
        #expect(outcome.kind == .invalidRequest)
        #expect(outcome.parameter == parameter)
    }

    /// Codes and whether their texts are meant for the person.
    static let texts: [(String, [String], String?)] = [
        ("E0000004", [], nil), ("E0000011", [], nil), ("E0000009", ["cause"], nil), ("E0000068", [], nil),
        ("E0000068", ["Your answer does not match."], "Your answer does not match."), ("E0000080", [], "s"),
        ("E0000080", ["Too short.", "No digit."], "Too short. No digit."), ("E0000113", [], "s"),
        ("E0000109", [], "s"), ("E0000119", [], "s"), ("E0000001", ["login: developer's text"], nil),
    ]

    @Test(arguments: texts)
    func onlyWhatIsMeantForThePersonIsShown(code: String, causes: [String], message: String?) {
        #expect(Recorded(body: Recorded.error(code, causes: causes)).outcome.userMessage == message)
    }

    @Test func theRequestIDOfTheHeaderNamesTheAnswer() {
        let recorded = Recorded(body: Recorded.error("E0000068"), lines: [("X-Okta-Request-Id", "reqABC")])
        #expect(recorded.outcome.traceID == "reqABC")
    }
}
