import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Token answers")
struct TokenAnswerTests {
    private static let now = OAuthBench.start

    private static func answer(_ members: String, token: String = "A2") throws -> OAuthClient.TokenAnswer {
        let json = try JSONValue(parsing: #"{"access_token":"\#(token)"\#(members.isEmpty ? "" : ",")\#(members)}"#)
        return try #require(OAuthClient.TokenAnswer(json, date: now))
    }

    @Test(arguments: [
        ("", nil), (#""expires_in":3600"#, 3600), (#""expires_in":"3600""#, 3600), (#""expires_in":3600.0"#, 3600),
        (#""expires_in":36e2"#, 3600), (#""expires_in":0"#, nil), (#""expires_in":-1"#, nil),
        (#""expires_in":null"#, nil), (#""expires_in":"soon""#, nil), (#""expires_in":"nan""#, nil),
        (#""expires_in":true"#, nil), (#""expires_in":{}"#, nil), (#""expires_in":"""#, nil),
        (#""expires_in":5183999"#, 5_183_999),
    ])
    func lifetimes(members: String, seconds: Int64?) throws {
        #expect(try Self.answer(members).expiresAt == seconds.map { Self.now.advanced(by: .seconds($0)) })
    }

    @Test(arguments: ["1e400", "99999999999999999999999999", "\"1e30\"", "9223372036854775807", "1e18"])
    func hostileLifetimesSaturate(number: String) throws {
        let answer = try Self.answer(#""expires_in":\#(number)"#)
        #expect(answer.expiresAt?.rfc3339 == "9999-12-31T23:59:59Z")
        let credentials = answer.merged(into: Credentials())
        #expect(try Credentials(json: credentials.json) == credentials, "it can be stored and read again")
    }

    @Test func theLifetimeCountsFromTheServersClock() async throws {
        let date = ["date": "Tue, 01 Jan 2030 01:00:00 GMT"]
        let bench = try OAuthBench([.tokens("", date), .tokens("", ["date": "yesterday"])])
        let first = try await bench.oauth.tokens(.refreshToken("r"))
        #expect(first.expiresAt == Self.now.advanced(by: .seconds(7200)))
        let second = try await bench.oauth.tokens(.refreshToken("r"))
        #expect(second.expiresAt == Self.now.advanced(by: .seconds(3600)))
    }

    @Test func theMembers() throws {
        let answer = try Self.answer(
            #"""
            "token_type":"DPoP","refresh_token":"R2","scope":"a b","id_token":"I","issued_token_type":"urn:x","more":[1]
            """#
        )
        #expect(answer.tokenType == "DPoP" && answer.refreshToken == "R2" && answer.scope == "a b")
        #expect(answer.idToken == "I" && answer.issuedTokenType?.rawValue == "urn:x")
        #expect(answer.others == [JSONValue.Member("more", [1])])
        let odd = try Self.answer(
            #""token_type":7,"refresh_token":"","scope":[],"id_token":{},"issued_token_type":null"#
        )
        #expect(odd.tokenType == nil && odd.refreshToken == nil && odd.scope == nil && odd.idToken == nil)
        #expect(odd.issuedTokenType == nil)
    }

    @Test func itIsMergedIntoWhatIsStored() throws {
        let stored = try Credentials(
            json: try JSONValue(
                parsing: #"""
                    {"access_token":"A1","refresh_token":"R1","expires_at":"2029-01-01T00:00:00Z","client_token":"C",
                    "scope":"old","id_token":"I1","mine":{"a":1}}
                    """#
            )
        )
        let kept = try Self.answer("").merged(into: stored)
        #expect(kept.accessToken == "A2" && kept.refreshToken == "R1" && kept.expiresAt == nil)
        #expect(kept.clientToken == "C" && kept.others == stored.others)
        let renewed = try Self.answer(
            #""refresh_token":"R2","scope":"new","id_token":"I2","token_type":"Bearer","expires_in":1"#
        ).merged(into: stored)
        #expect(renewed.refreshToken == "R2" && renewed.expiresAt == Self.now.advanced(by: .seconds(1)))
        let others: [JSONValue.Member] = [
            JSONValue.Member("scope", "new"), JSONValue.Member("id_token", "I2"), JSONValue.Member("mine", ["a": 1]),
        ]
        #expect(renewed.others == others, "and nothing is added that was not there")
    }

    private static func jwt(_ claims: String) -> String {
        "\(Base64.encodeForURL("{\"alg\":\"RS256\"}".utf8)).\(Base64.encodeForURL(claims.utf8)).c2ln"
    }

    @Test(arguments: [
        (#"{"exp":1893459600}"#, 3600), (#"{"exp":"1893459600"}"#, 3600), (#"{"exp":1893459600.5}"#, nil),
        (#"{"exp":1}"#, nil), (#"{"exp":-1}"#, nil), (#"{"exp":1e300}"#, nil), (#"{"exp":1893456000}"#, nil),
        (#"{"exp":99999999999}"#, nil), (#"{"exp":null}"#, nil), (#"{}"#, nil), ("[]", nil), ("x", nil),
    ])
    func theClaimedExpiryIsAHint(claims: String, seconds: Int64?) throws {
        let token = Self.jwt(claims)
        let answer = try Self.answer("", token: token)
        #expect(answer.accessToken == Secret(token), "whatever it claims")
        if claims.contains(".5") {
            #expect(answer.expiresAt == Self.now.advanced(by: .seconds(3600) + .milliseconds(500)))
        } else {
            #expect(answer.expiresAt == seconds.map { Self.now.advanced(by: .seconds($0)) })
        }
        #expect(
            try Self.answer(#""expires_in":60"#, token: token).expiresAt == Self.now.advanced(by: .seconds(60)),
            "the server's word counts more"
        )
    }

    @Test func claimsAreReadWithoutTrust() throws {
        let token = Self.jwt(#"{"iss":"https://i","sub":"s","iat":1893456000,"exp":1893456060,"n":[1]}"#)
        let jwt = try #require(UnverifiedJWT(Secret(token)))
        #expect(jwt.issuer == "https://i" && jwt.subject == "s" && jwt.header["alg"] == "RS256")
        #expect(jwt.issuedAt == Self.now && jwt.expiresAt == Self.now.advanced(by: .seconds(60)))
        var dumped = ""
        dump(jwt, to: &dumped)
        #expect(!"\(jwt) \(String(reflecting: jwt)) \(dumped)".contains("https"))
    }

    @Test(arguments: [
        "", "a", "a.b", "a.b.c", "a.b.c.d", "..", "e30.e30", "e30.W10.x", "\u{0}.\u{0}.\u{0}", "e30.e30.x.y.z",
    ])
    func whatIsNoJWTIsNone(text: String) {
        #expect(UnverifiedJWT(Secret(text)) == nil)
    }

    @Test func paddingAndTheOtherAlphabetAreForgiven() {
        #expect(UnverifiedJWT("e30=.eyJzdWIiOiI/Pz8ifQ==.")?.subject == "???")
        #expect(UnverifiedJWT("e30.eyJzdWIiOiI_Pz8ifQ.")?.subject == "???")
    }

    @Test func hostileTokensAreBounded() {
        let deep = Base64.encodeForURL(String(repeating: "[", count: 10_000).utf8)
        #expect(UnverifiedJWT(Secret("e30.\(deep).x")) == nil)
        #expect(UnverifiedJWT(Secret("e30.e30." + String(repeating: "x", count: 70_000))) == nil)
        let mutator = ByteMutator(seed: 3)
        let token = Array(Self.jwt(#"{"iss":"i","sub":"s","iat":1,"exp":1893459600}"#).utf8)
        for _ in 0..<ByteMutator.rounds(5000) {
            let text = String(decoding: mutator.mutate(token), as: UTF8.self)
            let time = UnverifiedJWT(Secret(text))?.expiresAt?.sinceEpoch ?? .zero
            #expect(time >= .zero - .longest && time <= .longest)
        }
    }

    @Test func hostileAnswersAreAnswersOrNone() throws {
        let mutator = ByteMutator(seed: 5)
        let body = Array(
            #"{"access_token":"A","token_type":"b","expires_in":"3600","refresh_token":"R","scope":"s","id_token":"e30.e30."}"#
                .utf8
        )
        for _ in 0..<ByteMutator.rounds(5000) {
            guard let json = try? JSONValue(parsing: mutator.mutate(body)) else { continue }
            guard let answer = OAuthClient.TokenAnswer(json, date: Self.now) else { continue }
            #expect(!answer.accessToken.isEmpty)
            let merged = answer.merged(into: Credentials(refreshToken: "R1"))
            #expect(merged.refreshToken?.isEmpty == false)
            #expect(try Credentials(json: merged.json).accessToken == answer.accessToken)
        }
    }
}
