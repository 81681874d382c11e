import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("The shapes of Facebook's answers")
struct FacebookAnswerTests {
    private static let dead: (Outcome.Kind, [Outcome.Remedy], Outcome.TokenAction, Outcome.CredentialKind?) = (
        .credentialRejected, [.reauthenticate], .clear, .access
    )

    static func row(
        _ status: Int,
        _ body: String,
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        _ action: Outcome.TokenAction = .keep,
        _ credential: Outcome.CredentialKind? = nil,
        processed: Outcome.Processed = .no,
        presenting presented: Outcome.CredentialKind? = .access,
        _ method: HTTPRequest.Method = .get,
        at path: String = "/v25.0/me",
        lines: [(String, String)] = []
    ) -> Row {
        Row(
            "\(status) \(body) \(presented?.rawValue ?? "none") \(path)",
            Recorded(
                status: status,
                body: body,
                lines: lines,
                presented: presented,
                method: method,
                path: path
            ),
            kind,
            remedies,
            action,
            credential,
            processed: processed
        )
    }

    static let errors: [Row] = [
        row(400, #"{"error":{"code":"190","error_subcode":"463"}}"#, dead.0, dead.1, dead.2, dead.3),
        row(400, #"{"error":{"code":190,"error_subcode":""}}"#, dead.0, dead.1, dead.2, dead.3),
        row(400, #"{"error":{"code":190.0,"error_subcode":null}}"#, dead.0, dead.1, dead.2, dead.3),
        row(400, #"{"error":{"code":"","message":"m"}}"#, .unknown), row(400, #"{"error":{"message":"m"}}"#, .unknown),
        row(400, #"{"error":{}}"#, .unknown), row(200, #"{"error":{"message":"m"}}"#, .unknown, processed: .unknown),
        row(500, #"{"error":{"code":"","message":"m"}}"#, .unavailable, [.retry], processed: .unknown),
        row(401, #"{"error":{"message":"m"}}"#, .credentialRejected, [.reauthenticate], .keep, .access),
        row(404, #"{"error":{"message":"m"}}"#, .notFound),
        row(400, #"{"error_code":1,"error_msg":"m"}"#, .unavailable, [.retry], processed: .unknown),
        row(400, #"{"error_message":"m","error_code":"1"}"#, .unavailable, [.retry], processed: .unknown),
        row(200, #"{"error_message":"m","error_code":"4"}"#, .rateLimited, [.wait]),
        row(200, #"{"error_code":190}"#, dead.0, dead.1, dead.2, dead.3),
        row(400, #"{"error_code":"190"}"#, dead.0, dead.1, dead.2, dead.3),
        row(200, #"{"error_code":0}"#, .ok, processed: .yes),
        row(200, #"{"id":"1","error_code":7}"#, .ok, processed: .yes),
        row(400, #"{"error":"Something is wrong"}"#, .unknown),
        row(200, #"{"error":"Something is wrong"}"#, .unknown, processed: .unknown),
        row(500, #"{"error":"Something is wrong"}"#, .unavailable, [.retry], processed: .unknown),
        row(400, #"{"error":"invalid_request","error_description":"d"}"#, .invalidRequest, [.fixRequest]),
        row(500, #"{"error":"server_error"}"#, .unavailable, [.retry], processed: .unknown),
        row(400, #"{"error":"login_required"}"#, .credentialRejected, [.reauthenticate], .clear, .id, presenting: .id),
        row(
            400,
            #"{"error":"invalid_dpop_proof"}"#,
            .credentialRejected,
            [.reauthenticate],
            .clear,
            .id,
            presenting: .id
        ),
        row(400, #"{"error":"consent_required"}"#, .userActionRequired, [.visitProvider], presenting: .id),
        row(400, #"{"error":"access_denied","error_code":200,"error_reason":"user_denied"}"#, .declined),
        // Text, pages, nothing.
        row(200, "Service Unavailable", .unavailable, [.retry], processed: .unknown),
        row(200, #""Service Unavailable""#, .unavailable, [.retry], processed: .unknown),
        row(200, "hello", .unreadable, processed: .unknown), row(400, "hello", .unreadable),
        row(200, "<html><title>Facebook | Error</title>", .unavailable, [.retry], processed: .unknown),
        row(502, "<html><p>Sorry, something went wrong.</p>", .unavailable, [.retry], processed: .unknown),
        row(500, "<html>", .unavailable, [.retry], processed: .unknown),
        row(200, "<html><title>Portal</title>", .unreadable, processed: .unknown), row(403, "<html>", .unreadable),
        row(500, "", .unavailable, [.retry], processed: .unknown), row(200, "", .unreadable, processed: .unknown),
        row(404, "", .notFound), row(401, "", .credentialRejected, [.reauthenticate], .keep, .access),
        row(200, "true", .ok, processed: .yes), row(200, "false", .notFound, [.fixRequest], processed: .yes),
        row(200, "null", .unreadable, processed: .unknown),
        row(403, "", .rateLimited, [.wait], lines: [("x-app-usage", #"{"call_count":101}"#)]),
        row(403, "", .permissionDenied, [.contactAdmin], lines: [("x-app-usage", #"{"call_count":99}"#)]),
    ]

    static let wrapped: [Row] = [
        row(200, "/**/ cb(\(Recorded.error(190, 463)));", dead.0, dead.1, dead.2, dead.3),
        row(200, "/**/ a.b[0]({\"id\":\"1\"});", .ok, processed: .yes),
        row(200, "cb(\(Recorded.error(4)))", .rateLimited, [.wait]),
        row(
            200,
            #"for (;;);{"error":1357001,"errorSummary":"Log in"}"#,
            .credentialRejected,
            [.reauthenticate],
            .keep,
            .session,
            presenting: nil
        ),
        row(200, #"for(;;);{"error":1357004,"errorSummary":"s"}"#, .unavailable, [.retry], processed: .unknown),
        row(200, #"for (;;);{"error":1357054,"errorSummary":"s"}"#, .unavailable, [.retry], processed: .unknown),
        row(200, #"for (;;);{"error":1357999,"errorSummary":"s"}"#, .unknown, processed: .unknown),
        row(
            200,
            #"for (;;);{"error":"1357001","errorSummary":"Log in"}"#,
            .credentialRejected,
            [.reauthenticate],
            .keep,
            .session,
            presenting: nil
        ),
        row(200, #"for (;;);{"error":"1357004","errorSummary":"s"}"#, .unavailable, [.retry], processed: .unknown),
        row(200, #"for (;;);{"payload":1}"#, .ok, processed: .yes),
        row(200, "for (;;);", .unreadable, processed: .unknown),
        row(200, #"/**/ cb("Service Unavailable");"#, .unavailable, [.retry], processed: .unknown),
        row(200, #"for (;;);"Service Unavailable""#, .unavailable, [.retry], processed: .unknown),
        row(200, #""Service Unavailable""#, .unavailable, [.retry], processed: .unknown),
        row(200, #"/**/ cb("hello");"#, .unreadable, processed: .unknown),
    ]

    private static let token = "/v25.0/oauth/access_token"
    private static let device = "/v2.6/device/login_status"
    private static let login = #"{"error_type":"OAuthException","code":400,"error_message":"Invalid code"}"#

    static let logins: [Row] = [
        row(400, login, .credentialRejected, [.restartFlow], .clear, .code, presenting: .code, .post, at: token),
        row(400, login, .credentialRejected, [.restartFlow], .keep, .code, presenting: nil, .post, at: token),
        row(
            400,
            #"{"error_type":"OAuthException","code":400,"error_message":"Invalid Client Secret"}"#,
            .misconfigured,
            [.fixRequest],
            presenting: .client,
            .post,
            at: token
        ),
        row(
            429,
            #"{"meta":{"error_type":"OAuthRateLimitException","code":429,"error_message":"m"}}"#,
            .rateLimited,
            [.wait]
        ),
        row(
            400,
            #"{"meta":{"error_type":"OAuthAccessTokenException","code":400,"error_message":"m"}}"#,
            .credentialRejected,
            [.reauthenticate],
            .keep,
            .access
        ),
        row(
            200,
            #"{"data":{"is_valid":false,"error":{"code":190,"message":"m","subcode":463}}}"#,
            .credentialRejected,
            [.reauthenticate],
            .keep,
            .access,
            presenting: .client,
            at: "/v25.0/debug_token"
        ),
        row(
            200,
            #"{"data":{"is_valid":false,"error":{"code":190,"message":"m","subcode":459}}}"#,
            .userActionRequired,
            [.visitProvider],
            presenting: .client,
            at: "/v25.0/debug_token"
        ),
        row(
            200,
            #"{"data":{"is_valid":false,"app_id":"1","scopes":[]}}"#,
            .credentialRejected,
            [.reauthenticate],
            .keep,
            .access,
            presenting: .client,
            at: "/debug_token?input_token=x"
        ),
        row(
            200,
            #"{"data":{"is_valid":false,"error":{"message":"m"}}}"#,
            .credentialRejected,
            [.reauthenticate],
            .keep,
            .access,
            presenting: .access,
            at: "/debug_token"
        ),
        row(200, #"{"data":{"is_valid":true}}"#, .ok, processed: .yes, presenting: .client, at: "/debug_token"),
        row(200, #"{"data":{"error":{"reason":"x"}}}"#, .ok, processed: .yes),
        row(400, Recorded.error(190), .misconfigured, [.fixRequest], presenting: .client, at: "/debug_token"),
        // What the request lacks ends no code.
        row(
            400,
            #"{"error_type":"OAuthException","code":400,"error_message":"Missing required field redirect_uri"}"#,
            .invalidRequest,
            [.fixRequest],
            presenting: .code,
            .post,
            at: token
        ),
        row(
            400,
            #"{"error_type":"OAuthException","code":400,"error_message":"Matching code was not found or already used"}"#,
            .credentialRejected,
            [.restartFlow],
            .clear,
            .code,
            presenting: .code,
            .post,
            at: token
        ),
        // The person has said no to a device.
        row(400, #"{"error":"access_denied"}"#, .declined, [], .clear, presenting: .device, .post, at: device),
        row(400, #"{"error":"authorization_pending"}"#, .challengePending, [.poll], presenting: .device, at: device),
        // Words in a challenge that is against the grammar, where nothing else can be read.
        row(
            400,
            "",
            .credentialRejected,
            [.reauthenticate],
            .keep,
            .access,
            lines: [("www-authenticate", #"OAuth "Facebook Platform" "invalid_token" "text""#)]
        ),
        row(
            400,
            "",
            .invalidRequest,
            [.fixRequest],
            lines: [("www-authenticate", #"OAuth "Facebook Platform" "invalid_request" "text""#)]
        ),
        row(
            400,
            Recorded.error(190, 459),
            .userActionRequired,
            [.visitProvider],
            lines: [("www-authenticate", #"OAuth "Facebook Platform" "invalid_token" "text""#)]
        ),
        row(
            302,
            "",
            .declined,
            lines: [("location", "https://app/?error=access_denied&error_code=200&error_reason=user_denied#_=_")]
        ),
        row(302, "", .declined, lines: [("location", "https://app/?error=access_denied&state=s")]),
        row(
            302,
            "",
            .misconfigured,
            [.fixRequest],
            lines: [("location", "https://app/?error_code=191&error_message=URL+blocked")]
        ),
        row(
            302,
            "",
            .unavailable,
            [.restartFlow],
            lines: [("location", "https://app/?error=server_error&error_code=2&error_description=x")]
        ),
        row(302, "", .ok, processed: .yes, lines: [("location", "https://app/?code=c&state=s#_=_")]),
    ]

    static let successes: [Row] = [
        row(200, #"{"id":"1"}"#, .ok, processed: .yes), row(204, "", .ok, processed: .yes),
        row(200, #"{"success":true}"#, .ok, processed: .yes),
        row(200, #"{"success":false}"#, .unknown, processed: .yes),
        row(200, #"{"access_token":"t"}"#, .ok, [], .rotate, processed: .yes, at: token),
        row(200, #"{"access_token":"t"}"#, .ok, [], .clear, processed: .yes, presenting: .code, at: token),
        row(200, "access_token=t&expires=5", .ok, [], .rotate, processed: .yes, at: token),
        row(
            200,
            #"{"access_token":"t"}"#,
            .ok,
            [],
            .clear,
            processed: .yes,
            presenting: .device,
            .post,
            at: "/device/login_status"
        ),
        row(200, #"{"success":true}"#, .ok, [], .clear, processed: .yes, .delete, at: "/v25.0/me/permissions"),
        row(200, "true", .ok, [], .keep, processed: .yes, .delete, at: "/v25.0/me/permissions/email"),
        row(302, "", .ok, processed: .yes, lines: [("location", "https://cdn/p.jpg")]),
        row(200, "\u{FFFD}JPEG", .ok, processed: .yes, lines: [("content-type", "image/jpeg")]),
        row(200, "", .ok, processed: .yes, lines: [("content-length", "100")]),
        row(200, "[]", .ok, processed: .yes),
    ]

    @Test(arguments: errors + wrapped + logins + successes)
    func everyShapeIsRead(row: Row) {
        row.check()
    }

    @Test func codesAreToldAsTheyWereSent() {
        #expect(Recorded(body: #"{"error":{"code":"190","error_subcode":"463"}}"#).outcome.subcode == "463")
        #expect(Recorded(body: #"{"error":{"message":"m"}}"#).outcome.code == nil)
        #expect(Recorded(body: Self.login).outcome.code == nil)
        #expect(Recorded(body: #"{"error":"login_required"}"#).outcome.code == "login_required")
        #expect(Recorded(status: 200, body: #"for (;;);{"error":1357001}"#).outcome.code == "1357001")
        #expect(Recorded(status: 200, body: #"for (;;);{"error":"1357001"}"#).outcome.code == "1357001")
    }

    @Test func theTraceIsFound() {
        #expect(Recorded(body: Recorded.error(4), lines: [("x-fb-trace-id", "head")]).outcome.traceID == "Abc")
        let body = #"{"error":{"code":4}}"#
        #expect(Recorded(body: body, lines: [("x-fb-trace-id", "head")]).outcome.traceID == "head")
        #expect(Recorded(body: body, lines: [("x-fb-debug", "debug"), ("x-fb-rev", "1")]).outcome.traceID == "debug")
        #expect(Recorded(body: body).outcome.traceID == nil)
    }

    @Test func noAnswerIsTold() {
        for (certainty, processed) in [
            (TransportError.Certainty.neverSent, Outcome.Processed.no), (.notProcessed, .no), (.unknown, .unknown),
        ] {
            var exchange = Recorded().exchange
            exchange.result = .failure(TransportError(.connectionLost, certainty))
            let outcome = FacebookClassifier().classify(exchange)
            #expect(outcome.kind == .transport)
            #expect(outcome.processed == processed)
            #expect(outcome.tokenAction == .keep)
        }
    }

    // MARK: Batches

    @Test func theItemsOfABatchAreJudgedOneByOne() throws {
        let inner = JSONValue.string(Recorded.error(190, 463)).description
        let usage = JSONValue.string(
            #"{"5":[{"type":"ads_insights","estimated_time_to_regain_access":"10"}]}"#
        ).description
        let limit = JSONValue.string(Recorded.error(80_000)).description
        let body = """
            [{"code":200,"headers":[],"body":"{\\"id\\":\\"1\\"}"},null,{"code":"400","body":\(inner)},
             {"code":400,"headers":[{"name":"X-Business-Use-Case-Usage","value":\(usage)}],"body":\(limit)},
             {"code":200,"body":{"id":"1"}},{"code":400,"body":\(Recorded.error(100))},7,{"body":"{}"}]
            """
        let outcome = Recorded(status: 200, body: body, method: .post, path: "/v25.0/").outcome
        #expect(outcome.kind == .ok)
        #expect(
            outcome.items.map(\.kind) == [
                .ok, .unavailable, .credentialRejected, .rateLimited, .ok, .invalidRequest, .unreadable, .unreadable,
            ]
        )
        #expect(outcome.items[1].remedies == [.retry])
        #expect(outcome.items[2].tokenAction == .clear)
        #expect(outcome.items[2].traceID == "Abc")
        #expect(outcome.items[3].retryAfter == .seconds(600))
        let written = outcome.json(name: "b")["items"]?.array
        #expect(written?.count == 8)
        #expect(written?[3]["retry_after_s"]?.number?.saturatedInt == 600)
        #expect(written?[2]["subcode"]?.string == "463")
    }

    @Test func aBatchThatIsRejectedIsOneError() {
        let outcome = Recorded(body: Recorded.error(4), method: .post, path: "/").outcome
        #expect(outcome.kind == .rateLimited)
        #expect(outcome.items.isEmpty)
        #expect(Recorded(status: 200, body: "[]", method: .post, path: "/").outcome.kind == .unreadable)
    }
}
