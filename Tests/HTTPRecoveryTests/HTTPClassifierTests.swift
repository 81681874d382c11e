import HTTPRecovery
import HTTPTypes
import Testing

@Suite("Plain HTTP")
struct HTTPClassifierTests {
    private func classify(_ exchange: Exchange) -> Outcome {
        HTTPClassifier().classify(exchange)
    }

    // MARK: Statuses

    @Test(arguments: [
        (200, Outcome.Kind.ok, Outcome.Processed.yes, [Outcome.Remedy]()), (204, .ok, .yes, []), (206, .ok, .yes, []),
        (301, .ok, .yes, []), (304, .ok, .yes, []), (307, .ok, .yes, []),
        (400, .invalidRequest, .no, [.fixRequest]),
        (401, .credentialRejected, .no, [.refreshCredential, .reauthenticate]),
        (402, .permissionDenied, .no, [.contactAdmin]), (403, .permissionDenied, .no, [.contactAdmin]),
        (404, .notFound, .no, []), (405, .invalidRequest, .no, [.fixRequest]),
        (406, .invalidRequest, .no, [.fixRequest]), (407, .misconfigured, .no, [.fixRequest]),
        (408, .unavailable, .no, [.retry]), (409, .conflict, .no, [.resync]), (410, .notFound, .no, []),
        (411, .invalidRequest, .no, [.fixRequest]), (412, .conflict, .no, [.resync]),
        (413, .invalidRequest, .no, [.fixRequest]), (414, .invalidRequest, .no, [.fixRequest]),
        (415, .invalidRequest, .no, [.fixRequest]), (416, .invalidRequest, .no, [.fixRequest]),
        (417, .invalidRequest, .no, [.fixRequest]), (418, .invalidRequest, .no, [.fixRequest]),
        (421, .unavailable, .no, [.retry]), (422, .invalidRequest, .no, [.fixRequest]),
        (423, .conflict, .no, [.retry]), (425, .unavailable, .no, [.retry]),
        (428, .invalidRequest, .no, [.fixRequest]), (429, .rateLimited, .no, [.wait]),
        (431, .invalidRequest, .no, [.fixRequest]), (451, .policyBlocked, .no, []),
        (499, .invalidRequest, .no, [.fixRequest]),
        (500, .unavailable, .unknown, [.retry]), (501, .misconfigured, .unknown, [.fixRequest]),
        (502, .unavailable, .unknown, [.retry]), (503, .unavailable, .unknown, [.retry]),
        (504, .unavailable, .unknown, [.retry]), (505, .misconfigured, .unknown, [.fixRequest]),
        (507, .unavailable, .unknown, []), (511, .unreadable, .unknown, []), (520, .unavailable, .unknown, [.retry]),
        (524, .unavailable, .unknown, [.retry]), (529, .unavailable, .unknown, [.retry]),
        (530, .unavailable, .unknown, [.retry]), (599, .unavailable, .unknown, [.retry]),
        (101, .unreadable, .unknown, []), (0, .unavailable, .unknown, [.retry]),
        (999, .unavailable, .unknown, [.retry]),
    ])
    func status(status: Int, kind: Outcome.Kind, processed: Outcome.Processed, remedies: [Outcome.Remedy]) {
        let outcome = classify(exchange(status))
        #expect(outcome.kind == kind)
        #expect(outcome.processed == processed)
        #expect(outcome.remedies == remedies)
        #expect(outcome.tokenAction == .keep)
        #expect(outcome.status == status)
        // A page in place of the answer changes nothing for plain HTTP.
        #expect(classify(exchange(status, body: "<html>Sorry</html>")).kind == kind)
    }

    @Test func everyStatusHasAnOutcome() {
        for status in 0...999 {
            for body in ["", "null", "{", "<html>", #"{"error":{"code":1}}"#] {
                let outcome = classify(exchange(status, [("Retry-After", "1")], body: body, presented: .access))
                #expect(outcome.isFailure == !(200..<400).contains(status))
            }
        }
    }

    // MARK: Delays

    @Test func aStatedDelayIsWaitedOutAndProvesA503Unprocessed() {
        let overloaded = classify(exchange(503, [("Retry-After", "20")]))
        #expect(overloaded.kind == .unavailable && overloaded.processed == .no && overloaded.remedies == [.wait])
        #expect(overloaded.retryAfter == .seconds(20))
        let unreadable = classify(exchange(503, [("Retry-After", "soon")]))
        #expect(unreadable.processed == .unknown && unreadable.remedies == [.retry] && unreadable.retryAfter == nil)
        let vendor = classify(exchange(503, [("retry-after-ms", "500")]))
        #expect(vendor.processed == .no && vendor.retryAfter == .milliseconds(500))
        let internalError = classify(exchange(500, [("Retry-After", "20")]))
        #expect(internalError.processed == .unknown && internalError.remedies == [.wait])
        let tooLarge = classify(exchange(413, [("Retry-After", "20")]))
        #expect(tooLarge.kind == .unavailable && tooLarge.processed == .no && tooLarge.remedies == [.wait])
        let invalid = classify(exchange(400, [("Retry-After", "20")]))
        #expect(invalid.kind == .invalidRequest && invalid.remedies == [.fixRequest])
        #expect(invalid.retryAfter == .seconds(20))
    }

    @Test(arguments: [
        ("3599", Outcome.Kind.rateLimited), ("3600", .quotaExhausted),
        ("99999999999999999999999999", .quotaExhausted), ("nan", .rateLimited), ("0", .rateLimited),
    ])
    func anHourOrMoreIsAQuota(retryAfter: String, kind: Outcome.Kind) {
        let outcome = classify(exchange(429, [("Retry-After", retryAfter)]))
        #expect(outcome.kind == kind)
        #expect(outcome.scope == .origin && outcome.remedies == [.wait])
    }

    @Test func aQuotaOverAnHourIsKnownByItsPolicy() {
        let lines = [("RateLimit-Policy", #""day";q=1000;w=86400"#), ("RateLimit", #""day";r=0"#)]
        #expect(classify(exchange(429, lines)).kind == .quotaExhausted)
        let problem = [("RateLimit-Policy", #""day";q=9;w=86400"#), ("Content-Type", "application/problem+json")]
        let body =
            #"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","violated-policies":["day"]}"#
        #expect(classify(exchange(429, problem, body: body)).kind == .quotaExhausted)
        #expect(classify(exchange(429, problem + [("Retry-After", "5")], body: body)).kind == .rateLimited)
        #expect(classify(exchange(400, [problem[1]], body: body)).kind == .rateLimited)
    }

    @Test(
        arguments: [
            ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1767225660")], "", 60),
            ([], #"{"message":"You have exceeded a secondary rate limit. Please wait."}"#, 60),
            ([("Retry-After", "30")], #"{"message":"You have exceeded a secondary rate limit."}"#, 30),
            ([], #"{"message":"API rate limit exceeded for 1.2.3.4"}"#, nil),
        ] as [(Lines, String, Int?)]
    )
    func aForbiddenRequestMayBeAThrottledOne(lines: Lines, body: String, seconds: Int?) {
        let outcome = classify(exchange(403, lines, body: body, presented: .access))
        #expect(outcome.kind == .rateLimited && outcome.remedies == [.wait] && outcome.processed == .no)
        #expect(outcome.retryAfter == seconds.map { .seconds($0) })
        #expect(outcome.tokenAction == .keep && outcome.credential == nil)
    }

    @Test(arguments: ["0", "5", "7200"])
    func aDelayByItselfMakesNoRefusalAThrottledOne(delay: String) {
        let outcome = classify(exchange(403, [("Retry-After", delay)], presented: .access))
        #expect(outcome.kind == .permissionDenied && outcome.remedies == [.contactAdmin])
    }

    @Test func hintsDecideAboutTryingAgain() {
        #expect(classify(exchange(503, [("x-should-retry", "false"), ("Retry-After", "3")])).remedies == [])
        #expect(classify(exchange(429, [("grpc-retry-pushback-ms", "-1")])).remedies == [])
        #expect(classify(exchange(409, [("stripe-should-retry", "true")])).remedies == [.retry, .resync])
        #expect(classify(exchange(400, [("x-should-retry", "true")])).remedies == [.retry, .fixRequest])
        let rejected = classify(exchange(401, [("x-should-retry", "true")]))
        #expect(rejected.remedies == [.refreshCredential, .reauthenticate])
        #expect(classify(exchange(401, [("x-should-retry", "false")])).remedies == rejected.remedies)
        #expect(classify(exchange(200, [("x-should-retry", "true")])).remedies == [])
    }

    // MARK: Challenges

    @Test func aRefusedTokenIsClearedAndRenewed() {
        let lines = [("WWW-Authenticate", #"Bearer error="invalid_token", error_description="expired""#)]
        for presented in [Outcome.CredentialKind.access, .session, .id] {
            let outcome = classify(exchange(401, lines, presented: presented))
            #expect(outcome.kind == .credentialRejected && outcome.credential == presented)
            #expect(outcome.tokenAction == .clear && outcome.code == "invalid_token" && outcome.message == "expired")
            #expect(outcome.remedies == [.refreshCredential, .reauthenticate] && outcome.scope == .credential)
        }
        let unknown = classify(exchange(401, lines))
        #expect(unknown.credential == .access && unknown.tokenAction == .keep)
        let refresh = classify(exchange(401, lines, presented: .refresh))
        #expect(refresh.tokenAction == .clear && refresh.remedies == [.reauthenticate])
        let client = classify(exchange(401, lines, presented: .client))
        #expect(client.tokenAction == .keep && client.credential == .client && client.remedies == [.fixRequest])
        let flow = classify(exchange(401, lines, presented: .state))
        #expect(flow.kind == .flowExpired && flow.credential == nil && flow.tokenAction == .clear)
    }

    @Test(
        arguments: [
            ([("WWW-Authenticate", "Bearer")], "", Outcome.TokenAction.clear),
            ([("WWW-Authenticate", "Bearer realm=\"x\"")], "{}", .clear),
            ([], "", .clear), ([], #"{"message":"no"}"#, .clear),
            ([("WWW-Authenticate", #"Bearer error="invalid_token""#)], "<html>", .clear),
            ([("WWW-Authenticate", "Bearer")], "<html>", .keep),
            ([], "<!DOCTYPE html>", .keep), ([("WWW-Authenticate", "Basic realm=x")], "", .keep),
            ([("WWW-Authenticate", "Negotiate")], "", .keep),
            ([("WWW-Authenticate", #"Basic realm="a", Bearer error="invalid_token""#)], "", .clear),
        ] as [(Lines, String, Outcome.TokenAction)]
    )
    func onlyADefiniteNoClears(lines: Lines, body: String, action: Outcome.TokenAction) {
        let outcome = classify(exchange(401, lines, body: body, presented: .access))
        #expect(outcome.kind == .credentialRejected)
        #expect(outcome.tokenAction == action)
    }

    @Test func anotherSchemeIsNotAnsweredWithARefresh() {
        let outcome = classify(exchange(401, [("WWW-Authenticate", "Basic realm=x")], presented: .access))
        #expect(outcome.remedies == [.reauthenticate])
    }

    @Test func strongerAuthenticationKeepsTheTokens() {
        let value = #"Bearer error="insufficient_user_authentication", acr_values="gold silver", max_age="5""#
        for status in [401, 403] {
            let outcome = classify(exchange(status, [("WWW-Authenticate", value)], presented: .access))
            #expect(outcome.kind == .stepUpRequired && outcome.remedies == [.stepUp] && outcome.tokenAction == .keep)
            #expect(outcome.advice?.description == #"{"acr_values":"gold silver","max_age":5}"#)
        }
        let bare = #"Bearer error="insufficient_user_authentication", max_age="soon""#
        #expect(classify(exchange(401, [("WWW-Authenticate", bare)])).advice == nil)
    }

    @Test func aNonceIsAskedForOnce() {
        let lines = [("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#), ("DPoP-Nonce", "n-1")]
        let outcome = classify(exchange(401, lines, presented: .access))
        #expect(outcome.kind == .nonceRequired && outcome.remedies == [.newNonce] && outcome.tokenAction == .keep)
        #expect(outcome.advice?["nonce"] == "n-1")
    }

    @Test func aMissingScopeIsNoReasonToRefresh() {
        let lines = [("WWW-Authenticate", #"Bearer error="insufficient_scope", scope="a b""#)]
        let outcome = classify(exchange(403, lines, presented: .access))
        #expect(outcome.kind == .permissionDenied && outcome.tokenAction == .keep)
        #expect(outcome.code == "insufficient_scope" && outcome.advice?["scope"] == "a b")
        let invalid = classify(exchange(400, [("WWW-Authenticate", #"Bearer error="invalid_request""#)]))
        #expect(invalid.kind == .invalidRequest && invalid.code == "invalid_request")
    }

    @Test func challengesDoNotCountOnOtherStatuses() {
        let lines = [("WWW-Authenticate", #"Bearer error="invalid_token""#)]
        #expect(classify(exchange(429, lines, presented: .access)).tokenAction == .keep)
        #expect(classify(exchange(500, lines, presented: .access)).kind == .unavailable)
    }

    @Test func facebooksChallengeIsUnderstood() {
        let lines = [("WWW-Authenticate", #"OAuth "Facebook Platform" "invalid_token" "Session has expired""#)]
        let outcome = classify(exchange(401, lines, presented: .access))
        #expect(outcome.code == "invalid_token" && outcome.tokenAction == .clear)
    }

    // MARK: Bodies

    @Test(arguments: [
        (
            #"{"type":"https://ex.com/p/age","title":"Bad","status":422,"detail":"Too old"}"#, "https://ex.com/p/age",
            "Too old"
        ),
        (#"{"error":{"code":"E1","message":"No"}}"#, "E1", "No"), (#"{"code":17,"message":"No"}"#, "17", "No"),
        (#"{"error":"invalid_thing","error_description":"No"}"#, "invalid_thing", "No"),
        (#"{"error":"Unauthorized","message":"No"}"#, nil, "No"), (#"{"code":422,"message":"No"}"#, nil, "No"),
        (#"{"error":"It went wrong"}"#, nil, "It went wrong"), ("[]", nil, nil), ("nonsense", nil, nil),
    ])
    func codesAndMessages(body: String, code: String?, message: String?) {
        let outcome = classify(exchange(422, body: body))
        #expect(outcome.code == code)
        #expect(outcome.message == message)
        #expect(outcome.userMessage == nil)
    }

    @Test func theParameterIsNamed() {
        let body = ##"{"type":"about:blank","title":"x","errors":[{"pointer":"#/age"}]}"##
        #expect(classify(exchange(422, [("Content-Type", "application/problem+json")], body: body)).parameter == "age")
        #expect(classify(exchange(400, body: #"{"error":{"param":"limit"}}"#)).parameter == "limit")
        #expect(classify(exchange(404, body: #"{"error":{"param":"limit"}}"#)).parameter == nil)
    }

    @Test func aProblemInASuccessIsAFailure() {
        let type = [("Content-Type", "application/problem+json")]
        let outcome = classify(exchange(200, type + [("Retry-After", "5")], body: #"{"status":429,"title":"Slow"}"#))
        #expect(outcome.kind == .rateLimited && outcome.retryAfter == .seconds(5) && outcome.processed == .yes)
        #expect(classify(exchange(200, type, body: #"{"title":"fine"}"#)).kind == .ok)
        #expect(classify(exchange(200, body: #"{"status":500}"#)).kind == .ok)
    }

    @Test func theRegisteredProblemTypes() {
        func problem(_ name: String) -> String {
            #"{"type":"https://iana.org/assignments/http-problem-types#\#(name)","title":"x"}"#
        }
        #expect(classify(exchange(503, body: problem("temporary-reduced-capacity"))).kind == .unavailable)
        #expect(classify(exchange(400, body: problem("temporary-reduced-capacity"))).kind == .unavailable)
        #expect(classify(exchange(429, body: problem("abnormal-usage-detected"))).kind == .rateLimited)
        #expect(classify(exchange(403, body: problem("abnormal-usage-detected"))).kind == .policyBlocked)
    }

    @Test func theTraceIDIsKept() {
        #expect(classify(exchange(500, [("X-Request-Id", "abc")])).traceID == "abc")
        #expect(classify(exchange(500, [("cf-ray", "r1")])).traceID == "r1")
    }

    // MARK: Transport

    @Test(arguments: zip(TransportError.Certainty.allCases, [Outcome.Processed.no, .no, .unknown, .yes]))
    func transportErrors(certainty: TransportError.Certainty, processed: Outcome.Processed) {
        func outcome(_ code: TransportError.Code) -> Outcome {
            let error = TransportError(code, certainty)
            return classify(Exchange(method: .get, path: "/", result: .failure(error), now: present))
        }
        #expect(outcome(.connectionLost).kind == .transport && outcome(.connectionLost).remedies == [.retry])
        #expect(outcome(.connectionLost).processed == processed)
        #expect(outcome(.timedOut).kind == .timedOut && outcome(.timedOut).processed == processed)
        #expect(outcome(.certificateRejected).remedies == [])
    }
}
