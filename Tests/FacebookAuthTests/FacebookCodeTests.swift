import FacebookAuth
import HTTPRecovery
import HTTPTypes
import Testing

@Suite("Facebook's codes")
struct FacebookCodeTests {
    private static let device = "/v25.0/device/login_status"
    private static let token = "/v25.0/oauth/access_token"

    static let limits: [Row] = [
        Row(4, status: 403, .rateLimited, [.wait]),
        Row(4, sub: 2_446_079, .rateLimited, [.wait], more: #","is_transient":true"#),
        Row(4, .rateLimited, [.wait], more: #","is_transient":false"#),
        Row(9, .rateLimited, [.wait]), Row(17, .rateLimited, [.wait]),
        Row(17, sub: 2_446_079, .rateLimited, [.wait]), Row(32, status: 403, .rateLimited, [.wait]),
        Row(341, .rateLimited, [.wait]), Row(613, .rateLimited, [.wait]), Row(613, sub: 1996, .rateLimited, [.wait]),
        Row(130_429, .rateLimited, [.wait]), Row(131_056, .rateLimited, [.wait]),
        Row(80_004, sub: 2_446_079, .rateLimited, [.wait], presenting: nil),
        // A limit comes before everything that stands beside it.
        Row(4, sub: 463, .rateLimited, [.wait]), Row(17, sub: 459, .rateLimited, [.wait]),
        Row(4, status: 200, .rateLimited, [.wait]), Row(4, status: 500, .rateLimited, [.wait]),
        Row(4, .rateLimited, [.wait], processed: .no, .post, at: "/v25.0/me/feed"),
        // Whatever the body says, a 429 is a limit.
        Row(190, sub: 463, status: 429, .rateLimited, [.wait]), Row(999, status: 429, .rateLimited, [.wait]),
    ]

    static let businessLimits: [Row] =
        [
            80_000, 80_001, 80_002, 80_003, 80_004, 80_005, 80_006, 80_007, 80_008, 80_009, 80_014,
        ].map { Row($0, .rateLimited, [.wait]) }
        + [80_000, 80_003].map { Row($0, sub: 2_446_079, .rateLimited, [.wait]) }

    static let tokens: [Row] = [
        Row(190, .credentialRejected, [.reauthenticate], .clear, .access),
        Row(190, status: 401, .credentialRejected, [.reauthenticate], .clear, .access),
        Row(190, status: 200, .credentialRejected, [.reauthenticate], .clear, .access),
        Row(102, .credentialRejected, [.reauthenticate], .clear, .access),
        Row(102, sub: 463, .credentialRejected, [.reauthenticate], .clear, .access),
        Row(102, sub: 459, .userActionRequired, [.visitProvider]),
        Row(190, sub: 459, .userActionRequired, [.visitProvider]),
        Row(190, sub: 464, .userActionRequired, [.visitProvider]),
        Row(190, sub: 490, .userActionRequired, [.visitProvider]),
        Row(190, sub: 492, .permissionDenied, [.contactAdmin]),
        Row(190, sub: 99_999, .credentialRejected, [.reauthenticate], .clear, .access),
        Row(190, sub: 463, .credentialRejected, [.reauthenticate], .clear, .access, more: #","is_transient":true"#),
        Row(412, .credentialRejected, [.reauthenticate], .clear, .access),
        Row(0, status: 401, .credentialRejected, [.reauthenticate], .clear, .access),
        Row(2500, .credentialRejected, [.reauthenticate], .clear, .access, message: "An active access token must be"),
        Row(
            2500,
            .credentialRejected,
            [.reauthenticate],
            .keep,
            .access,
            message: "An active access token",
            presenting: nil
        ),
        // Nothing that was presented is nothing to lose.
        Row(190, sub: 463, .credentialRejected, [.reauthenticate], .keep, .access, presenting: nil),
        // The app's own tokens are configuration.
        Row(190, .misconfigured, [.fixRequest], presenting: .client),
        Row(190, sub: 467, .misconfigured, [.fixRequest], presenting: .client),
        Row(190, sub: 463, .credentialRejected, [.reauthenticate], .clear, .id, presenting: .id),
        Row(190, .credentialRejected, [.restartFlow], .clear, .code, presenting: .code, at: token),
        Row(190, .credentialRejected, [.restartFlow], .clear, .device, presenting: .device, .post, at: device),
        // No outage takes a token away.
        Row(190, sub: 463, status: 500, .credentialRejected, [.reauthenticate], .keep, .access),
        // The finer code of a token under another code is none of a token.
        Row(1, sub: 463, .unavailable, [.retry], processed: .unknown),
    ]

    static let deadTokens: [Row] = [190, 102].flatMap { code in
        [458, 460, 461, 463, 466, 467, 468, 493].map {
            Row(code, sub: $0, .credentialRejected, [.reauthenticate], .clear, .access)
        }
    }

    static let people: [Row] = [
        Row(102, sub: 464, .userActionRequired, [.visitProvider]),
        Row(102, sub: 492, .permissionDenied, [.contactAdmin]),
        Row(200, sub: 459, .userActionRequired, [.visitProvider]),
        Row(230, sub: 464, .userActionRequired, [.visitProvider]),
        Row(270, sub: 459, .userActionRequired, [.visitProvider]),
        Row(299, sub: 464, .userActionRequired, [.visitProvider]),
        Row(10, sub: 464, .userActionRequired, [.visitProvider]),
        Row(1, sub: 459, .userActionRequired, [.visitProvider]),
        Row(999, sub: 464, .userActionRequired, [.visitProvider]),
        Row(368, status: 403, .policyBlocked), Row(368, status: 400, .policyBlocked, more: #","is_transient":true"#),
    ]

    static let permissions: [Row] = [
        Row(3, .permissionDenied, [.contactAdmin]), Row(10, .permissionDenied, [.reauthenticate, .contactAdmin]),
        Row(10, status: 403, .permissionDenied, [.reauthenticate, .contactAdmin]),
        Row(200, .permissionDenied, [.reauthenticate, .contactAdmin]),
        Row(230, .permissionDenied, [.reauthenticate, .contactAdmin]),
        Row(270, .permissionDenied, [.contactAdmin]),
        Row(299, .permissionDenied, [.reauthenticate, .contactAdmin]),
        Row(200, .permissionDenied, [.reauthenticate, .contactAdmin], more: #","is_transient":true"#),
        Row(300, .unknown),
    ]

    static let server: [Row] = [
        Row(1, status: 500, .unavailable, [.retry], processed: .unknown),
        Row(1, status: 400, .unavailable, [.retry], processed: .unknown),
        Row(1, sub: 99, status: 400, .unavailable, [.retry], processed: .unknown),
        Row(2, status: 400, .unavailable, [.retry], processed: .unknown),
        Row(2, status: 500, .unavailable, [.retry], processed: .unknown),
        Row(2, status: 503, .unavailable, [.retry], processed: .unknown),
        Row(2, status: 400, .unavailable, [.retry], processed: .unknown, .post, at: "/v25.0/me/feed"),
        Row(2, status: 200, .unavailable, [.retry], processed: .unknown),
        Row(1, status: 400, .unavailable, [.retry], processed: .unknown, more: #","is_transient":false"#),
        Row(1, sub: 1_446_036, .unknown, more: #","is_transient":false,"error_user_msg":"No.""#),
        Row(1, .unknown, more: #","is_transient":false,"error_user_title":"No.""#),
        Row(1, sub: 1_965_014, .unknown, more: #","is_transient":0"#),
        Row(1, .misconfigured, [.fixRequest], message: "Error validating client secret."),
        Row(999, status: 400, .unavailable, [.retry], processed: .unknown, more: #","is_transient":true"#),
        Row(999, status: 400, .unavailable, [.retry], processed: .unknown, more: #","is_transient":1"#),
        Row(100, status: 400, .unavailable, [.retry], processed: .unknown, more: #","is_transient":true"#),
        Row(6000, sub: 1_363_019, .unavailable, [.retry]), Row(6001, sub: 1_363_037, .unavailable, [.retry]),
        Row(6000, sub: 1_363_021, .unavailable, [.retry]), Row(6000, sub: 1_363_030, .unavailable, [.retry]),
        Row(6000, sub: 1_363_033, .unavailable, [.retry]), Row(6000, .unavailable, [.retry]),
        Row(6000, sub: 1_363_024, .unavailable, [.retry]),
        Row(6000, sub: 1_363_041, .flowExpired, [.restartFlow]),
        Row(6000, sub: 1_363_022, .invalidRequest, [.fixRequest]),
        Row(6000, sub: 1_363_023, .invalidRequest, [.fixRequest]),
        Row(6000, sub: 1_363_042, .permissionDenied, [.reauthenticate, .contactAdmin]),
    ]

    static let requests: [Row] = [
        Row(100, .invalidRequest, [.fixRequest]), Row(100, sub: 33, .notFound, [.fixRequest]),
        Row(100, .misconfigured, [.fixRequest], message: "Invalid appsecret_proof provided in the API argument"),
        Row(100, .credentialRejected, [.restartFlow], .clear, .code, presenting: .code, at: token),
        Row(
            100,
            .credentialRejected,
            [.restartFlow],
            .keep,
            .code,
            message: "This authorization code has been used.",
            presenting: .client,
            at: token
        ),
        Row(100, .invalidRequest, [.fixRequest], message: "Missing client_id", presenting: .code, at: token),
    ]

    /// Of an exchange, only a code that is used, expired or another's is ended.
    static let exchanges: [Row] =
        [
            "Missing redirect_uri parameter.", "redirect_uri isn't an absolute URI. Check RFC 3986.",
            "The parameter redirect_uri is required", "Invalid redirect_uri: not permitted by the app.",
        ].map { Row(100, .invalidRequest, [.fixRequest], message: $0, presenting: .code, at: token) }
        + [
            "This authorization code has been used.", "This authorization code has expired. A new one is required.",
            "Error validating verification code. Please make sure your redirect_uri is identical to the one you used",
            "The redirect_uri does not match", "Invalid verification code format.",
        ].map {
            Row(
                100,
                sub: 36_009,
                .credentialRejected,
                [.restartFlow],
                .clear,
                .code,
                message: $0,
                presenting: .code,
                at: token
            )
        }

    static let otherRequests: [Row] = [
        Row(101, .misconfigured, [.fixRequest]), Row(104, .misconfigured, [.fixRequest]), Row(506, .conflict),
        Row(803, status: 404, .notFound, [.fixRequest]), Row(1_609_005, .invalidRequest, [.fixRequest]),
        Row(2500, .invalidRequest, [.fixRequest], message: "Unknown path components: /x"),
        Row(2635, .misconfigured, [.fixRequest]), Row(3018, .invalidRequest, [.fixRequest]),
        Row(191, .misconfigured, [.fixRequest]), Row(324, .invalidRequest, [.fixRequest]),
        Row(987_654, .unknown), Row(987_654, status: 500, .unavailable, [.retry], processed: .unknown),
        Row(987_654, status: 200, .unknown, processed: .unknown),
    ]

    static let devices: [Row] = [
        Row(31, sub: 1_349_174, .challengePending, [.poll], presenting: .device, .post, at: device),
        Row(
            17,
            sub: 1_349_172,
            .challengePending,
            [.wait, .poll],
            delay: .seconds(5),
            presenting: .device,
            .post,
            at: device
        ),
        Row(31, sub: 1_349_173, .declined, [], .clear, presenting: .device, .post, at: device),
        Row(100, sub: 1_349_173, .declined, [], .clear, presenting: .device, .post, at: device),
        Row(200, sub: 1_349_173, status: 500, .declined, presenting: .device, .post, at: device),
        Row(
            17,
            sub: 1_349_172,
            .challengePending,
            [.wait, .poll],
            delay: .seconds(5),
            presenting: .client,
            .post,
            at: "/v25.0/device/login"
        ),
        // Elsewhere the code alone counts.
        Row(17, sub: 1_349_172, .rateLimited, [.wait]), Row(31, sub: 1_349_174, .unknown),
        Row(100, sub: 1_349_173, .invalidRequest, [.fixRequest]), Row(31, sub: 1_349_152, .unknown),
        Row(190, sub: 1_349_173, .credentialRejected, [.reauthenticate], .clear, .access, at: "/device/login/x"),
        Row(463, sub: 1_349_152, .flowExpired, [.restartFlow], .clear, presenting: .device, .post, at: device),
    ]

    @Test(
        arguments: limits + businessLimits + tokens + deadTokens + people + permissions + server + requests + exchanges
            + otherRequests + devices
    )
    func everyCodeHasItsMeaning(row: Row) {
        let outcome = row.check()
        #expect(outcome.traceID == "Abc")
        #expect(outcome.message != nil)
        #expect(Int(outcome.code ?? "") != nil)
        #expect(outcome.statusType == nil)
    }

    @Test func theFinerCodeIsTold() {
        let outcome = Recorded(body: Recorded.error(190, 463)).outcome
        #expect(outcome.code == "190")
        #expect(outcome.subcode == "463")
    }

    @Test func onlyTheTextForThePersonIsShown() {
        let more = #","error_user_title":"Title","error_user_msg":"Text""#
        #expect(Recorded(body: Recorded.error(368, more: more)).outcome.userMessage == "Text")
        let title = #","error_user_title":"Title","error_user_msg":"""#
        #expect(Recorded(body: Recorded.error(368, more: title)).outcome.userMessage == "Title")
        #expect(Recorded(body: Recorded.error(368)).outcome.userMessage == nil)
        #expect(Recorded(body: Recorded.error(190, 459)).outcome.advice?["url"]?.string != nil)
    }

    /// Members of an error and the parameter that they name.
    static let parameters: [(String, String, String?)] = [
        ("m", #","error_data":{"blame_field_specs":[["limit"]]}"#, "limit"),
        ("m", #","error_data":{"blame_field_specs":[["targeting","geo"]]}"#, "targeting.geo"),
        ("m", #","error_data":"{\"blame_field_specs\":[[\"name\"]]}""#, "name"),
        ("(#100) Param limit must be a number", "", "limit"), ("m", #","error_data":null"#, nil),
        ("m", #","error_data":"no json""#, nil), ("m", #","error_data":{"blame_field_specs":[]}"#, nil),
    ]

    @Test(arguments: parameters)
    func theParameterIsFoundWhereverItStands(message: String, more: String, parameter: String?) {
        let outcome = Recorded(body: Recorded.error(100, nil, message, more: more)).outcome
        #expect(outcome.kind == .invalidRequest)
        #expect(outcome.parameter == parameter)
    }

    @Test func anUploadIsToldWhereToGoOn() {
        for data in [
            #"{"start_offset":"10","end_offset":"20"}"#, #""{\"start_offset\":\"10\",\"end_offset\":\"20\"}""#,
        ] {
            let outcome = Recorded(body: Recorded.error(6000, 1_363_019, more: #","error_data":\#(data)"#)).outcome
            #expect(outcome.advice == ["start_offset": "10", "end_offset": "20"])
        }
    }

    @Test func scopesSayWhoseLimitItIs() {
        let scopes: [(Int, Outcome.Scope)] = [
            (4, .app), (341, .app), (17, .credential), (32, .endpoint), (80_004, .endpoint), (613, .endpoint),
            (131_056, .account),
        ]
        for (code, scope) in scopes { #expect(Recorded(body: Recorded.error(code)).outcome.scope == scope) }
    }

    @Test func aBusinessLimitHoldsForTheObjectAndItsUse() {
        let classes: [(String, String)] = [
            ("/v25.0/act_1/insights", "ads_insights 1"), ("/act_1/insights", "ads_insights 1"),
            ("/v25.0/act_1/campaigns", "ads_management 1"), ("/v25.0/5/feed", "graph 5"),
            ("/v25.0/5/posts", "graph 5"), ("/v25.0/5_9/comments", "graph 5"), ("/v25.0/5/insights", "insights 5"),
            ("/v25.0/5/messages", "messages 5"), ("/v25.0/178/media_publish", "publishing 178"),
            ("/v25.0/x_y/feed", "graph x_y"), ("/v25.0/", "graph batch"),
        ]
        for (path, name) in classes {
            #expect(FacebookClassifier().endpointClass(method: .get, path: path) == name)
        }
    }
}
