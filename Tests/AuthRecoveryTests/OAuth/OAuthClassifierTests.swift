import AuthRecovery
import HTTPRecovery
import HTTPTypes
import Testing

@Suite("What the answers of OAuth mean")
struct OAuthClassifierTests {
    typealias Presented = Outcome.CredentialKind

    /// The words that mean the same whatever was presented and with whatever status below 500.
    private static let plain: [(String, Outcome.Kind, [Outcome.Remedy], String?)] = [
        ("invalid_request", .invalidRequest, [.fixRequest], nil),
        ("invalid_scope", .invalidRequest, [.fixRequest], "scope"),
        ("invalid_target", .invalidRequest, [.fixRequest], "resource"),
        ("invalid_authorization_details", .invalidRequest, [.fixRequest], "authorization_details"),
        ("unsupported_token_type", .invalidRequest, [.fixRequest], nil),
        ("invalid_dpop_proof", .invalidRequest, [.fixRequest], nil),
        ("invalid_request_uri", .invalidRequest, [.fixRequest], "request_uri"),
        ("invalid_request_object", .invalidRequest, [.fixRequest], "request"),
        ("invalid_client", .misconfigured, [.fixRequest], nil),
        ("unauthorized_client", .misconfigured, [.fixRequest], nil),
        ("unsupported_grant_type", .misconfigured, [.fixRequest], nil),
        ("unsupported_response_type", .misconfigured, [.fixRequest], nil),
        ("request_not_supported", .misconfigured, [.fixRequest], nil),
        ("request_uri_not_supported", .misconfigured, [.fixRequest], nil),
        ("registration_not_supported", .misconfigured, [.fixRequest], nil),
        ("invalid_redirect_uri", .misconfigured, [.fixRequest], nil),
        ("invalid_client_metadata", .misconfigured, [.fixRequest], nil),
        ("invalid_software_statement", .misconfigured, [.fixRequest], nil),
        ("unapproved_software_statement", .misconfigured, [.fixRequest], nil),
        ("server_error", .unavailable, [.retry], nil), ("temporarily_unavailable", .unavailable, [.retry], nil),
        ("authorization_pending", .challengePending, [.poll], nil), ("slow_down", .challengePending, [.poll], nil),
        ("insufficient_scope", .permissionDenied, [.contactAdmin], nil),
        ("insufficient_user_authentication", .stepUpRequired, [.stepUp], nil),
        ("unmet_authentication_requirements", .stepUpRequired, [.stepUp], nil),
        ("use_dpop_nonce", .nonceRequired, [.newNonce], nil),
        ("interaction_required", .userActionRequired, [.visitProvider], nil),
        ("account_selection_required", .userActionRequired, [.visitProvider], nil),
        ("consent_required", .userActionRequired, [.visitProvider], nil),
    ]

    /// The words that depend on what was presented: the kind, the credential and the action for each.
    private static let dependent: [(String, [Presented?: (Outcome.Kind, Presented?, Outcome.TokenAction)])] = {
        func refusal(_ spokenOf: Presented) -> [Presented?: (Outcome.Kind, Presented?, Outcome.TokenAction)] {
            [
                nil: (.credentialRejected, spokenOf, .keep), .access: (.credentialRejected, .access, .clear),
                .refresh: (.credentialRejected, .refresh, .clear), .session: (.credentialRejected, .session, .clear),
                .client: (.credentialRejected, .client, .keep), .code: (.credentialRejected, .code, .clear),
                .device: (.credentialRejected, .device, .clear), .id: (.credentialRejected, .id, .clear),
                .state: (.flowExpired, nil, .clear),
            ]
        }
        let expired: (Outcome.Kind, Presented?, Outcome.TokenAction) = (.flowExpired, nil, .keep)
        let declined: (Outcome.Kind, Presented?, Outcome.TokenAction) = (.declined, nil, .keep)
        let denied: (Outcome.Kind, Presented?, Outcome.TokenAction) = (.permissionDenied, nil, .keep)
        return [
            ("invalid_grant", refusal(.refresh)), ("invalid_token", refusal(.access)),
            (
                "expired_token",
                [
                    nil: expired, .refresh: expired, .client: expired, .code: expired, .id: expired, .state: expired,
                    .device: (.flowExpired, nil, .clear), .access: (.credentialRejected, .access, .clear),
                    .session: (.credentialRejected, .session, .clear),
                ]
            ),
            (
                "access_denied",
                [
                    nil: declined, .refresh: declined, .client: declined, .code: declined, .id: declined,
                    .state: declined, .device: (.declined, nil, .clear), .access: denied, .session: denied,
                ]
            ),
        ]
    }()

    private static let allPresented: [Presented?] = Presented.allCases + [nil]

    static func classify(
        _ status: Int,
        _ fields: [(String, String)] = [],
        body: String = "",
        presented: Presented? = nil,
        path: String = "/token"
    ) -> Outcome {
        var head = HTTPResponse(status: .init(code: status))
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { head.headerFields.append(HTTPField(name: name, value: value)) }
        }
        return OAuthClassifier().classify(
            Exchange(
                method: .post,
                path: path,
                presented: presented,
                result: .response(head, body: Array(body.utf8)),
                now: OAuthBench.start
            )
        )
    }

    private static func processed(_ status: Int) -> Outcome.Processed {
        status < 300 ? .yes : status < 500 ? .no : .unknown
    }

    @Test(arguments: allPresented)
    func whoHasToSignInIsToldSo(presented: Presented?) {
        let outcome = Self.classify(400, body: #"{"error":"login_required"}"#, presented: presented)
        #expect(outcome.tokenAction == .keep && outcome.code == "login_required")
        if presented == .session {
            #expect(outcome.kind == .credentialRejected && outcome.credential == .session)
            #expect(outcome.remedies == [.reauthenticate])
        } else {
            #expect(outcome.kind == .userActionRequired && outcome.remedies == [.visitProvider])
        }
    }

    /// What a success of an endpoint means for what was presented.
    private static let successes:
        [(path: String, body: String, presented: Presented?, kind: Outcome.Kind, action: Outcome.TokenAction)] = {
            let page = "<html><title>Sign in</title></html>"
            let both = #"{"access_token":"a","refresh_token":"r","expires_in":"x"}"#
            return [
                ("/token", both, .refresh, .ok, .rotate), ("/token", both, .code, .ok, .clear),
                ("/token", both, .device, .ok, .clear), ("/token", both, .client, .ok, .keep),
                ("/token", both, nil, .ok, .keep), ("/token?a=/b", #"{"access_token":"a"}"#, .refresh, .ok, .keep),
                ("/access_token", "access_token=a&refresh_token=r", .refresh, .ok, .rotate),
                ("/token", #"{"access_token":""}"#, .refresh, .unreadable, .keep),
                ("/token", "{}", .code, .unreadable, .keep), ("/token", "", .refresh, .unreadable, .keep),
                ("/token", #"{"access_to"#, .refresh, .unreadable, .keep), ("/token", page, nil, .unreadable, .keep),
                ("/token", "[]", .access, .ok, .keep), ("/items", "{}", .refresh, .ok, .keep),
                ("/revoke", "", .refresh, .ok, .clear), ("/revoke", "{}", .access, .ok, .clear),
                ("/revoke", "", .client, .ok, .keep), ("/revoke", "", nil, .ok, .keep),
                ("/revoke", page, .refresh, .unreadable, .keep), ("/connect/endSession", "", .id, .ok, .clear),
                ("/logout", "", .session, .ok, .clear),
                ("/introspect", #"{"active":true}"#, .access, .ok, .keep),
                ("/introspect", #"{"active":false}"#, .access, .credentialRejected, .clear),
                ("/introspect", #"{"active":false}"#, .refresh, .credentialRejected, .clear),
                ("/introspect", #"{"active":false}"#, .client, .ok, .keep),
                ("/introspect", #"{"active":false}"#, nil, .ok, .keep),
                ("/introspect", #"{"active":"no"}"#, .access, .unreadable, .keep),
                ("/authorize", page, .session, .userActionRequired, .keep), ("/authorize", "", nil, .ok, .keep),
                ("/userinfo", page, .access, .unreadable, .keep), ("/userinfo", "ey.ey.x", .access, .ok, .keep),
                ("/items", page, .access, .ok, .keep),
            ]
        }()

    @Test(arguments: successes.indices)
    func aSuccessTellsWhatBecameOfWhatWasPresented(index: Int) {
        let row = Self.successes[index]
        let outcome = Self.classify(200, body: row.body, presented: row.presented, path: row.path)
        #expect(outcome.kind == row.kind && outcome.tokenAction == row.action, "\(row)")
        #expect(outcome.processed == .yes && outcome.status == 200)
        #expect(outcome.credential == (row.kind == .credentialRejected ? row.presented : nil))
    }

    @Test(arguments: [200, 400, 401, 403, 404, 408, 500, 502, 503], allPresented)
    func plainWords(status: Int, presented: Presented?) {
        for (word, kind, remedies, parameter) in Self.plain {
            let outcome = Self.classify(
                status,
                body: #"{"error":"\#(word)","error_description":"d"}"#,
                presented: presented
            )
            #expect(outcome.kind == kind && outcome.remedies == remedies, "\(word)")
            #expect(outcome.tokenAction == .keep && outcome.credential == nil && outcome.parameter == parameter)
            #expect(outcome.code == word && outcome.message == "d" && outcome.status == status)
            #expect(outcome.processed == Self.processed(status), "\(word)")
        }
    }

    @Test(arguments: [200, 400, 401, 403, 404], allPresented)
    func wordsOfACredential(status: Int, presented: Presented?) throws {
        for (word, table) in Self.dependent {
            let outcome = Self.classify(status, body: #"{"error":"\#(word)"}"#, presented: presented)
            let expected = try #require(table[presented])
            #expect(outcome.kind == expected.0 && outcome.credential == expected.1, "\(word)")
            #expect(outcome.tokenAction == expected.2 && outcome.code == word, "\(word)")
            #expect(outcome.processed == Self.processed(status))
            // Only what a new access token can help is refreshed.
            let isRenewable = [.access, .session, .id].contains(outcome.credential)
            #expect(outcome.remedies.contains(.refreshCredential) == isRenewable, "\(word)")
        }
    }

    @Test(arguments: [408, 421, 425, 500, 502, 503, 504, 599], allPresented)
    func anOutageRefusesNothing(status: Int, presented: Presented?) {
        for word in ["invalid_grant", "invalid_token"] {
            let outcome = Self.classify(status, body: #"{"error":"\#(word)"}"#, presented: presented)
            #expect(outcome.kind == .unavailable && outcome.tokenAction == .keep && outcome.credential == nil)
            #expect(outcome.code == word && outcome.remedies == [.retry])
        }
    }

    @Test(arguments: allPresented)
    func a429IsAThrottleWhateverItSays(presented: Presented?) {
        for word in Self.plain.map(\.0) + Self.dependent.map(\.0) + ["made_up"] {
            let outcome = Self.classify(
                429,
                [("retry-after", "9")],
                body: #"{"error":"\#(word)","error_description":"API call exceeded"}"#,
                presented: presented
            )
            #expect(outcome.kind == .rateLimited && outcome.tokenAction == .keep && outcome.credential == nil)
            #expect(outcome.retryAfter == .seconds(9) && outcome.remedies == [.wait] && outcome.processed == .no)
            #expect(outcome.code == word && outcome.message == "API call exceeded")
        }
    }

    @Test func limitsInOtherClothes() {
        let outcome = Self.classify(
            400,
            [("x-rate-limit-reset", "1893456020"), ("x-rate-limit-remaining", "0")],
            body: #"{"error":"too_many_requests"}"#,
            presented: .refresh
        )
        #expect(outcome.kind == .rateLimited && outcome.retryAfter == .seconds(20) && outcome.remedies == [.wait])
        #expect(outcome.tokenAction == .keep && outcome.scope == .origin)
        #expect(Self.classify(429, [("retry-after", "7200")], body: "{}").kind == .quotaExhausted)
    }

    /// The word is a throttle's, and the status proves nothing: a request that must not be sent twice is not.
    @Test(arguments: ["too_many_requests", "too_many_attempts", "rate_limit_exceeded"])
    func aLimitInAnOutageDoesNotProveThatNothingWasDone(word: String) {
        for status in [408, 500, 502, 503, 504] {
            let outcome = Self.classify(status, body: #"{"error":"\#(word)"}"#)
            #expect(outcome.kind == .rateLimited && outcome.processed == (status == 408 ? .no : .unknown))
        }
        let stated = Self.classify(503, [("retry-after", "3")], body: #"{"error":"\#(word)"}"#)
        #expect(stated.processed == .no && stated.retryAfter == .seconds(3))
    }

    @Test func whatTheServerStatesIsKept() {
        let busy = Self.classify(503, [("retry-after", "5")], body: #"{"error":"temporarily_unavailable"}"#)
        #expect(busy.retryAfter == .seconds(5) && busy.remedies == [.wait] && busy.processed == .no)
        let slow = Self.classify(400, body: #"{"error":"slow_down","interval":15}"#, presented: .device)
        #expect(slow.retryAfter == .seconds(15))
        let stop = Self.classify(400, [("x-should-retry", "false")], body: #"{"error":"server_error"}"#)
        #expect(stop.kind == .unavailable && stop.remedies == [])
        let nonce = Self.classify(400, [("dpop-nonce", "n1")], body: #"{"error":"use_dpop_nonce"}"#)
        #expect(nonce.advice == ["nonce": "n1"])
        let step = Self.classify(
            400,
            body: #"{"error":"insufficient_user_authentication","acr_values":"x","max_age":5}"#
        )
        #expect(step.advice == ["acr_values": "x", "max_age": 5])
        let claims = Self.classify(
            401,
            [("www-authenticate", #"Bearer error="insufficient_claims", claims="e30""#)],
            presented: .access
        )
        #expect(claims.advice == ["claims": "e30"])
        let scope = Self.classify(403, body: #"{"error":"insufficient_scope","scope":"a b"}"#, presented: .access)
        #expect(scope.advice == ["scope": "a b"])
        let azure = Self.classify(
            400,
            body: #"{"error":"invalid_grant","suberror":"bad_token","error_codes":[70008],"trace_id":"t"}"#
        )
        #expect(azure.subcode == "bad_token" && azure.traceID == "t")
    }

    @Test(arguments: [
        (
            "Bearer error=\"invalid_token\"", 401, Presented.access, Outcome.Kind.credentialRejected,
            Outcome.TokenAction.clear
        ),
        ("Bearer", 401, .access, .credentialRejected, .clear),
        ("Bearer error='invalid_token'", 401, .access, .credentialRejected, .clear),
        ("Bearer error=\"Invalid_Token\"", 401, .access, .credentialRejected, .clear),
        ("Bearer error=\"expired_token\"", 401, .access, .credentialRejected, .clear),
        ("error=\"invalid_token\"", 401, .access, .credentialRejected, .clear),
        ("Bearer error=\"insufficient_scope\", scope=\"a\"", 403, .access, .permissionDenied, .keep),
        ("Bearer error=\"insufficient_scope\"", 401, .access, .permissionDenied, .keep),
        ("Bearer error=\"invalid_request\"", 400, .access, .invalidRequest, .keep),
        ("Bearer error=\"insufficient_user_authentication\"", 401, .access, .stepUpRequired, .keep),
        ("Bearer error=\"insufficient_claims\", claims=\"e30\"", 401, .access, .stepUpRequired, .keep),
        ("DPoP error=\"use_dpop_nonce\"", 401, .access, .nonceRequired, .keep),
        ("Basic realm=\"x\"", 401, .access, .credentialRejected, .keep),
        ("Basic realm=\"x\"", 401, .refresh, .misconfigured, .keep),
        ("Basic realm=\"x\"", 401, .client, .misconfigured, .keep),
        ("Bearer error=\"made_up\"", 401, .access, .credentialRejected, .clear),
        ("Bearer error=\"made_up\"", 401, .refresh, .misconfigured, .keep),
        ("Bearer", 401, .code, .misconfigured, .keep),
        ("Bearer error=\"invalid_token\"", 401, .refresh, .misconfigured, .keep),
    ])
    func challengesWhereThereIsNoBody(
        challenge: String,
        status: Int,
        presented: Presented,
        kind: Outcome.Kind,
        action: Outcome.TokenAction
    ) {
        let outcome = Self.classify(status, [("www-authenticate", challenge)], presented: presented)
        #expect(outcome.kind == kind && outcome.tokenAction == action)
        let mayRefresh = kind == .credentialRejected && presented == .access && !challenge.hasPrefix("Basic")
        #expect(outcome.remedies.contains(.refreshCredential) == mayRefresh)
    }

    @Test func theBodyCountsMoreThanAChallenge() {
        let fields = [("www-authenticate", "Bearer error=\"invalid_token\"")]
        let client = Self.classify(401, fields, body: #"{"error":"invalid_client"}"#, presented: .access)
        #expect(client.kind == .misconfigured && client.tokenAction == .keep)
        // A body that says nothing does not hide what the challenge says.
        for body in [#"{"error":"made_up"}"#, #"{"error":"Unauthorized","status":401}"#, "{}", "<html>", "null"] {
            let outcome = Self.classify(401, fields, body: body, presented: .access)
            #expect(outcome.kind == .credentialRejected && outcome.tokenAction == .clear)
            #expect(outcome.code == "invalid_token" || body.contains("made_up"))
        }
        // What would make the token acceptable as it is counts most.
        let step = [("www-authenticate", "Bearer error=\"insufficient_user_authentication\", max_age=\"5\"")]
        let outcome = Self.classify(401, step, body: #"{"error":"invalid_token"}"#, presented: .access)
        #expect(outcome.kind == .stepUpRequired && outcome.advice == ["max_age": 5])
    }

    @Test(arguments: [Presented.refresh, .code, .device])
    func onlyAWordEndsAGrant(presented: Presented) {
        for status in [400, 401, 403, 404, 409, 410, 422, 500, 503] {
            for body in ["", "{}", "null", "<html>no</html>", "no", #"{"error":"made_up"}"#, #"{"error":{"code":7}}"#] {
                let outcome = Self.classify(status, body: body, presented: presented)
                #expect(outcome.tokenAction == .keep && outcome.isFailure, "\(status) \(body)")
                #expect(outcome.kind != .credentialRejected && outcome.credential == nil, "\(status) \(body)")
            }
        }
    }

    /// PingAM's word for a realm without a provider, and for a token or a person that is not there: it tells nothing of
    /// what was presented.
    @Test(arguments: allPresented)
    func whatIsNotFoundRefusesNothing(presented: Presented?) {
        for path in ["/oauth2/realms/root/access_token", "/oauth2/userinfo"] {
            let body = #"{"error":"not_found","error_description":"No OpenID Connect provider for realm /x"}"#
            let outcome = Self.classify(404, body: body, presented: presented, path: path)
            #expect(outcome.kind == .notFound && outcome.code == "not_found" && outcome.remedies == [])
            #expect(outcome.message == "No OpenID Connect provider for realm /x")
            #expect(outcome.tokenAction == .keep && outcome.credential == nil && outcome.processed == .no)
        }
    }

    @Test(arguments: [
        ("", Outcome.Kind.misconfigured), ("{}", .misconfigured), ("no", .unreadable),
        ("<html>no</html>", .unreadable), (#"{"err"#, .unreadable), (#"{"error":"made_up"}"#, .unknown),
        (#"{"error":"invalid_client"}"#, .misconfigured),
        (#"{"error":"Unauthorized"}"#, .misconfigured), (#"{"error":"invalid_grant"}"#, .credentialRejected),
    ])
    func a401OfATokenEndpoint(body: String, kind: Outcome.Kind) {
        #expect(Self.classify(401, body: body, presented: .refresh).kind == kind)
    }

    @Test func successesAreSuccesses() {
        for body in [
            "", "{}", #"{"access_token":"A"}"#, #"{"active":false}"#, #"{"error":null}"#, #"{"error":""}"#,
            #"{"error":false,"x":1}"#, #"{"error":[],"errors":[]}"#, #"{"error":"none"}"#, #"{"error_code":0}"#,
            #"["invalid_grant"]"#, #"[{"error":"invalid_grant"}]"#, "invalid_grant", #""invalid_grant""#,
            #"{"code":"invalid_code","errors_seen":1}"#, #"{"log":{"error":"invalid_grant"}}"#,
        ] {
            let outcome = Self.classify(200, body: body, presented: .access)
            #expect(outcome.kind == .ok, "\(body)")
        }
        #expect(Self.classify(204).kind == .ok && Self.classify(302, [("location", "/x")]).kind == .ok)
    }

    @Test(arguments: [
        ("https://app/cb?error=access_denied&state=s", Outcome.Kind.declined),
        ("https://app/cb?error=login_required&error_description=a+b", .userActionRequired),
        ("https://app/cb?code=c&state=s", .ok), ("https://app/cb?error=made_up", .ok), ("https://app/cb", .ok),
    ])
    func anErrorInARedirect(location: String, kind: Outcome.Kind) {
        let outcome = Self.classify(302, [("location", location)])
        #expect(outcome.kind == kind)
        if location.contains("a+b") { #expect(outcome.message == "a b") }
    }

    /// There an error comes in place of the code, also one that nobody knows.
    @Test(arguments: [
        ("https://app/cb?error=made_up&error_description=a+b&state=s", Outcome.Kind.unknown),
        ("app:cb#error=made_up&error_description=a+b", .unknown),
        ("https://app/cb?error=consent_required", .userActionRequired),
        ("https://app/cb?code=c&state=s", .ok), ("/login?error=made_up", .ok), ("https://app/cb", .ok),
    ])
    func anErrorInTheRedirectOfAnAuthorizationEndpoint(location: String, kind: Outcome.Kind) {
        let outcome = Self.classify(302, [("location", location)], presented: .session, path: "/authorize")
        #expect(outcome.kind == kind && outcome.tokenAction == .keep && outcome.processed == .yes, "\(location)")
        guard kind == .unknown else { return }
        #expect(outcome.code == "made_up" && outcome.message == "a b" && outcome.remedies.isEmpty)
    }

    @Test func withoutAnAnswer() {
        let exchange = Exchange(
            method: .post,
            path: "/token",
            presented: .refresh,
            result: .failure(TransportError(.connectionLost, .unknown)),
            now: OAuthBench.start
        )
        let outcome = OAuthClassifier().classify(exchange)
        #expect(outcome.kind == .transport && outcome.processed == .unknown && outcome.tokenAction == .keep)
    }
}
