import AuthRecovery
import HTTPRecovery
import Testing

@Suite struct CredentialsTests {
    private func read(_ text: String) throws -> Credentials {
        try Credentials(json: JSONValue(parsing: text))
    }

    @Test func theStoredFormIsReadAndWritten() throws {
        let text = """
            {"access_token":"a","refresh_token":"r","expires_at":"2030-01-01T00:00:00Z","client_token":"c",\
            "session_id":"s","sso_token":"o"}
            """
        let credentials = try read(text)
        #expect(credentials.accessToken == "a")
        #expect(credentials.refreshToken == "r")
        #expect(credentials.expiresAt == Timestamp(secondsSinceEpoch: 1_893_456_000))
        #expect(credentials.clientToken == "c")
        #expect(credentials.sessionID == "s")
        #expect(credentials.ssoToken == "o")
        #expect(credentials.json.description == text)
    }

    @Test func unknownMembersAreKeptInOrder() throws {
        let text = #"{"z":[1,{"y":null}],"access_token":"a","b":1e400,"":"","z2":"é\u0007"}"#
        let written = try read(text).json.description
        #expect(written == #"{"access_token":"a","z":[1,{"y":null}],"b":1e400,"":"","z2":"é\u0007"}"#)
        #expect(try read(written) == read(text))
    }

    @Test(arguments: [
        (#""2030-01-01T00:00:00Z""#, 1_893_456_000), (#""2030-01-01T01:00:00+01:00""#, 1_893_456_000),
        ("1893456000", 1_893_456_000), (#""1893456000""#, 1_893_456_000), ("1893456000.0", 1_893_456_000), ("0", 0),
        ("-5", -5),
    ])
    func theExpiryIsRFC3339OrEpochSeconds(text: String, seconds: Int64) throws {
        #expect(try read(#"{"expires_at":\#(text)}"#).expiresAt == Timestamp(secondsSinceEpoch: seconds))
    }

    @Test(arguments: ["1e300", "-1e300", "1e400", "99999999999999999999", "9223372036854775807"])
    func anExpiryOutOfAllProportionIsHeldWithinWhatCanBeWritten(text: String) throws {
        let credentials = try read(#"{"access_token":"a","expires_at":\#(text)}"#)
        let again = try Credentials(json: JSONValue(parsing: credentials.json.description))
        #expect(again.expiresAt != nil)
        #expect(again.others.isEmpty)
    }

    @Test(
        arguments: ["17", "true", "[]", "{}", "[\"a\"]"],
        [
            "access_token", "refresh_token", "client_token", "session_id", "sso_token", "expires_at",
        ]
    )
    func aMemberOfAWrongTypeIsNoCredentialButIsKept(value: String, key: String) throws {
        if key == "expires_at", value == "17" { return }
        let text = #"{"\#(key)":\#(value)}"#
        let credentials = try read(text)
        #expect(credentials == Credentials(others: credentials.others))
        #expect(credentials.json.description == text)
    }

    @Test func aMemberOfAWrongTypeGoesWhenItsKeyGetsAValue() throws {
        var credentials = try read(#"{"access_token":17,"x":1}"#)
        credentials.accessToken = "a"
        #expect(credentials.json.description == #"{"access_token":"a","x":1}"#)
    }

    @Test func aMemberOfAWrongTypeGoesWithItsCredential() throws {
        var credentials = try read(#"{"access_token":17,"expires_at":"soon","x":1}"#)
        credentials.remove(.access)
        #expect(credentials.json.description == #"{"x":1}"#)
    }

    @Test func aNullIsNoMember() throws {
        #expect(try read(#"{"access_token":null}"#).json.description == "{}")
    }

    @Test func ofARepeatedKeyTheLastCounts() throws {
        #expect(try read(#"{"access_token":"a","access_token":"b"}"#).accessToken == "b")
        let mixed = try read(#"{"access_token":"a","access_token":5}"#)
        #expect(mixed.accessToken == nil)
        #expect(mixed.json.description == #"{"access_token":5}"#)
        #expect(try read(#"{"access_token":5,"access_token":"b"}"#).json.description == #"{"access_token":"b"}"#)
    }

    @Test(arguments: ["[]", "17", "null", "\"text\"", "true"])
    func whatIsNoObjectIsNoCredentials(text: String) {
        #expect(throws: Credentials.StoreError.self) { try read(text) }
    }

    @Test func aClearedKeyIsGoneFromTheStoredForm() throws {
        let full = Credentials(
            accessToken: "a",
            refreshToken: "r",
            expiresAt: Timestamp(secondsSinceEpoch: 0),
            clientToken: "c",
            sessionID: "s",
            ssoToken: "o",
            others: [JSONValue.Member("x", 1)]
        )
        let left: [(Outcome.CredentialKind, [String])] = [
            (.access, ["refresh_token", "client_token", "session_id", "sso_token", "x"]),
            (.refresh, ["access_token", "expires_at", "client_token", "session_id", "sso_token", "x"]),
            (.session, ["refresh_token", "client_token", "x"]), (.client, ["refresh_token", "x"]),
        ]
        for (kind, keys) in left {
            var credentials = full
            credentials.remove(kind)
            #expect(credentials.json.members?.map(\.key) == keys, "\(kind)")
        }
        for kind in [Outcome.CredentialKind.code, .device, .id, .state] {
            var credentials = full
            credentials.remove(kind)
            #expect(credentials == full)
            #expect(full[kind] == nil)
        }
        #expect(full[.access] == "a" && full[.refresh] == "r" && full[.client] == "c" && full[.session] == "o")
        #expect(Credentials(sessionID: "s")[.session] == "s")
    }
}
