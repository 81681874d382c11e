import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Errors that real servers send against the specifications")
struct OAuthMalformedErrorTests {
    @Test(arguments: [
        #"{"error":"invalid_grant"}"#, #"{"error":"Invalid_Grant"}"#, #"{"error":"INVALID_GRANT"}"#,
        #"{"error":"invalid-grant"}"#, #"{"error":"invalid grant"}"#, #"{"error":"InvalidGrant"}"#,
        #"{"error":"invalidGrant"}"#, #"{"error":{"code":"invalid_grant","message":"d"}}"#,
        #"{"error":{"type":"invalid_grant"}}"#, #"{"error":{"error":"invalid_grant"}}"#,
        #"{"error":{"code":400,"status":"invalid_grant"}}"#, #"{"error":["invalid_grant"]}"#,
        #"{"error":[{"code":"invalid_grant"}]}"#, #"[{"error":"invalid_grant"}]"#, #"["invalid_grant"]"#,
        #"{"errors":["invalid_grant"]}"#, #"{"errors":[{"code":"invalid_grant"}]}"#,
        #"{"errors":{"code":"invalid_grant"}}"#, #"{"errorCode":"invalid_grant","errorSummary":"d","errorId":"i"}"#,
        #"{"error_code":"invalid_grant","error_message":"d"}"#, #"{"code":"invalid_grant","message":"d"}"#,
        #"{"error":"Bad Request","error_code":"invalid_grant"}"#, #"{"error":"made_up","error_code":"invalid_grant"}"#,
        #"{"error":400,"errorCode":"invalid_grant"}"#, #"{"error":null,"error_code":"invalid_grant"}"#,
        #"{"error":"x","error":"invalid_grant"}"#, #"{"error":"invalid_grant","error_description":null,"x":[null]}"#,
        "error=invalid_grant", "error=invalid_grant&error_description=The+token%20is+gone", "a=b&error=invalid%5Fgrant",
        "error=invalid_grant&error_uri=", "invalid_grant", "\"invalid_grant\"", " invalid_grant\r\n",
        "\u{FEFF}{\"error\":\"invalid_grant\"}", "\n\t {\"error\" : \"invalid_grant\"} \n",
    ])
    func oneWayOrAnother(body: String) {
        for type in ["application/json", "text/html;charset=utf-8", "application/x-www-form-urlencoded", ""] {
            let outcome = OAuthClassifierTests.classify(400, [("content-type", type)], body: body, presented: .refresh)
            #expect(outcome.kind == .credentialRejected && outcome.tokenAction == .clear, "\(type)")
            #expect(outcome.code == "invalid_grant" && outcome.credential == .refresh)
        }
    }

    @Test(arguments: [
        (#"{"error":"invalid_grant","error_description":"d"}"#, "d"),
        (#"{"error":{"code":"invalid_grant","message":"d"}}"#, "d"),
        (#"{"error":[{"code":"invalid_grant","message":"d"}]}"#, "d"),
        (#"{"errorCode":"invalid_grant","errorSummary":"d"}"#, "d"),
        (#"{"error_code":"invalid_grant","msg":"d"}"#, "d"),
        (#"{"errors":[{"code":"invalid_grant","message":"d"}]}"#, "d"),
        ("error=invalid_grant&error_description=The+token%20is+%C3%A9", "The token is é"),
        (#"{"error":"invalid_grant","error_description":7}"#, nil),
    ])
    func descriptions(body: String, message: String?) {
        #expect(OAuthClassifierTests.classify(400, body: body).message == message)
    }

    @Test(arguments: [
        #"{"error":null}"#, #"{"error":7}"#, #"{"error":{}}"#, #"{"error":[]}"#, #"{"error":true}"#, "null", "7", "[]",
        "error=", "error=&a=b", #"{"error":"The grant is invalid"}"#, "", " \n",
    ])
    func whatSaysNothingIsJudgedByStatus(body: String) {
        for (status, kind) in [
            (400, Outcome.Kind.invalidRequest), (403, .permissionDenied), (404, .notFound), (500, .unavailable),
            (503, .unavailable), (429, .rateLimited),
        ] {
            let outcome = OAuthClassifierTests.classify(status, body: body, presented: .refresh)
            #expect(outcome.kind == kind && outcome.tokenAction == .keep)
        }
    }

    /// Nobody who speaks the protocol has answered: the status is no word about what was presented, and all is kept.
    @Test(arguments: [
        "{", #"{"error":"invalid_gra"#, "error", "&&&", "<error>invalid_grant</error>", "<html></html>", "Forbidden",
        "the grant is invalid_grant today", "\u{0}",
    ])
    func whatCannotBeReadIsNotJudgedByStatus(body: String) {
        let grants: [(String, Outcome.CredentialKind)] = [
            ("/token", .refresh), ("/access_token", .code), ("/token", .state),
        ]
        for (path, presented) in grants {
            for status in [400, 401, 403, 404, 409] {
                let outcome = OAuthClassifierTests.classify(status, body: body, presented: presented, path: path)
                #expect(outcome.kind == .unreadable && outcome.tokenAction == .keep, "\(status) \(presented)")
                #expect(outcome.remedies.isEmpty && outcome.credential == nil && outcome.status == status)
            }
            for (status, kind) in [(429, Outcome.Kind.rateLimited), (408, .unavailable), (503, .unavailable)] {
                #expect(OAuthClassifierTests.classify(status, body: body, presented: presented).kind == kind)
            }
        }
        // What is fetched with an access token may answer as it likes.
        #expect(OAuthClassifierTests.classify(404, body: body, presented: .access).kind == .notFound)
    }

    /// A profile's refusal stands in a challenge, beside whatever; a page without one is somebody else's.
    @Test(arguments: [
        ("<html></html>", "", Outcome.Kind.unreadable), ("Blocked by policy", "", .unreadable), ("{", "", .unreadable),
        ("<html></html>", "Bearer error=\"invalid_token\"", .credentialRejected),
        ("Invalid token", "Bearer", .credentialRejected), ("Unauthorized", "", .credentialRejected),
        ("", "", .credentialRejected), ("{}", "", .credentialRejected),
    ])
    func aProfileIsRefusedByItsServer(body: String, challenge: String, kind: Outcome.Kind) {
        let fields: [(String, String)] = challenge.isEmpty ? [] : [("www-authenticate", challenge)]
        let outcome = OAuthClassifierTests.classify(401, fields, body: body, presented: .access, path: "/userinfo")
        #expect(outcome.kind == kind, "\(body)")
        if kind == .unreadable { #expect(outcome.tokenAction == .keep && outcome.remedies.isEmpty) }
    }

    @Test func ownCodesStayReadable() {
        let okta = OAuthClassifierTests.classify(
            401,
            body: #"{"errorCode":"E0000011","errorSummary":"Invalid token provided","errorId":"oae1"}"#,
            presented: .access
        )
        #expect(okta.code == "E0000011" && okta.message == "Invalid token provided" && okta.traceID == "oae1")
        #expect(okta.kind == .credentialRejected && okta.tokenAction == .clear)
        let graph = OAuthClassifierTests.classify(
            400,
            body: #"{"error":{"message":"m","type":"OAuthException","code":190,"error_subcode":463}}"#
        )
        #expect(graph.code == "190" && graph.subcode == "463" && graph.message == "m")
        let spring = OAuthClassifierTests.classify(401, body: #"{"status":401,"error":"Unauthorized"}"#)
        #expect(spring.code == nil)
        let own = OAuthClassifierTests.classify(400, body: #"{"error":"refresh_window_closed"}"#, presented: .refresh)
        #expect(own.code == "refresh_window_closed" && own.kind == .invalidRequest)
    }

    @Test func lengthIsCut() {
        let long = String(repeating: "x", count: 200_000)
        let outcome = OAuthClassifierTests.classify(
            400,
            body: #"{"error":"\#(long)","error_description":"\#(long)","suberror":"\#(long)","trace_id":"\#(long)"}"#
        )
        #expect((outcome.code?.utf8.count ?? 0) <= 256 && outcome.message?.utf8.count == 1024)
        #expect(outcome.subcode?.utf8.count == 256 && outcome.traceID?.utf8.count == 256)
        #expect(OAuthClassifierTests.classify(400, body: "error=invalid_grant&x=\(long)").code == nil)
    }

    /// A long error counts like a short one; of one that is cut nobody knows what it says.
    @Test func aLongErrorIsReadToo() {
        let body = #"{"error":"invalid_grant","x":"\#(String(repeating: "x", count: 1_100_000))"}"#
        let whole = OAuthClassifierTests.classify(400, body: body, presented: .refresh)
        #expect(whole.kind == .credentialRejected && whole.tokenAction == .clear)
        let cut = OAuthClassifierTests.classify(400, body: String(body.dropLast(2)), presented: .refresh)
        #expect(cut.kind == .unreadable && cut.tokenAction == .keep)
    }

    @Test(arguments: [200, 302, 400, 401, 403, 429, 500, 503])
    func mutatedAnswersAlwaysComeToAnOutcome(status: Int) {
        let bodies = [
            #"{"error":"invalid_grant","error_description":"d","error_codes":[1],"interval":5,"max_age":1}"#,
            #"{"error":{"code":"invalid_token","message":"m"},"errors":[{"code":"slow_down"}],"scope":"a"}"#,
            "error=access_denied&error_description=a+b%20c&state=s", #"[["invalid_client"]]"#, "<html></html>",
        ]
        let fields = [
            ("www-authenticate", #"Bearer error='invalid_token', error_description=It is over, Basic realm="a b""#),
            ("location", "https://app/cb?error=access_denied&state=%"), ("dpop-nonce", "n"), ("retry-after", "5"),
        ]
        let mutator = ByteMutator(seed: UInt64(status))
        let presented: [Outcome.CredentialKind?] = Outcome.CredentialKind.allCases + [nil]
        for _ in 0..<ByteMutator.rounds(500) {
            let body = String(decoding: mutator.mutate(mutator.pick(bodies).utf8), as: UTF8.self)
            let damaged = fields.map { ($0.0, String(decoding: mutator.mutate($0.1.utf8), as: UTF8.self)) }
            let outcome = OAuthClassifierTests.classify(status, damaged, body: body, presented: mutator.pick(presented))
            #expect(outcome.retryAfter.map { $0 >= .zero && $0 <= .longest } ?? true)
            #expect(outcome.status == status)
            if status == 429 || status >= 500 { #expect(outcome.tokenAction == .keep) }
            if status == 429 { #expect([.rateLimited, .quotaExhausted].contains(outcome.kind)) }
        }
    }

    @Test func sizeIsPaidForLinearly() {
        // What is not linear here does not end in a lifetime; that it ends is the proof.
        for body in [
            String(repeating: "error=&", count: 9000), String(repeating: "rror", count: 16_000),
            "{\"errors\":[" + String(repeating: "{\"error\":[\"x\"]},", count: 10_000) + "1]}",
            String(repeating: "[", count: 500_000), String(repeating: "%", count: 65_000),
        ] {
            for status in [200, 400] { _ = OAuthClassifierTests.classify(status, body: body) }
        }
    }
}
