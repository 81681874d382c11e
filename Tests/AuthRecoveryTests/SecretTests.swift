import AuthRecovery
import HTTPRecovery
import Testing

@Suite struct SecretTests {
    private static let planted = "s3cret-hunter2"
    private static let secret = Secret(planted)

    private struct Holder: Error {
        var name = "holder"
        var secret = SecretTests.secret
        var list = [SecretTests.secret]
        var table = ["key": SecretTests.secret]
        var maybe: Secret? = SecretTests.secret
    }

    private enum Failure: Error {
        case with(Secret)
    }

    /// Every way in which a program may write a value by accident.
    private static func spellings(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var walked = ""
        func walk(_ mirror: Mirror, depth: Int) {
            guard depth < 8 else { return }
            for child in mirror.children {
                walked += "\(child.label ?? "") \(child.value) "
                walk(Mirror(reflecting: child.value), depth: depth + 1)
            }
        }
        walk(Mirror(reflecting: value), depth: 0)
        return ["\(value)", String(describing: value), String(reflecting: value), dumped, walked]
    }

    @Test func itIsNeverPrinted() {
        let credentials = Credentials(
            accessToken: Self.secret,
            refreshToken: Self.secret,
            clientToken: Self.secret,
            ssoToken: Self.secret,
            others: [JSONValue.Member("id_token", .string(Self.planted))]
        )
        let values: [Any] = [
            Self.secret, Holder(), Failure.with(Self.secret), [Self.secret], Optional(Self.secret) as Any,
            (1, Self.secret), Challenge.Answer.text(Self.secret), credentials, Optional(credentials) as Any,
            Credentials.Stored(credentials, version: 1), [credentials], Set([Self.secret]),
            InMemoryTokenStore(credentials),
        ]
        for value in values {
            for spelling in Self.spellings(of: value) {
                #expect(!spelling.contains(Self.planted), "\(type(of: value))")
            }
        }
        let error: any Error = Failure.with(Self.secret)
        #expect(!"\(error)".contains(Self.planted))
        #expect(!error.localizedText.contains(Self.planted))
    }

    @Test func itSaysThatItIsOne() {
        #expect("\(Self.secret)" == "[secret]")
        #expect("\(Holder().maybe as Any)".contains("[secret]"))
        #expect(Self.secret.reveal() == Self.planted)
        #expect(Secret("").isEmpty)
        #expect(Secret("a") == "a")
    }

    @Test func credentialsSayWhichOfThemAreHeld() {
        let credentials = Credentials(accessToken: "a", sessionID: "sess_1", others: [JSONValue.Member("x", 1)])
        #expect("\(credentials)" == "Credentials(access_token, session_id, other)")
        #expect("\(Credentials())" == "Credentials()")
    }

    @Test func aTestThatFailsOnASecretDoesNotPrintItEither() {
        // What the testing library prints of operands goes through the mirror.
        #expect(Mirror(reflecting: Self.secret).children.isEmpty)
        #expect(Mirror(reflecting: Credentials(accessToken: Self.secret)).children.isEmpty)
    }
}

extension Error {
    fileprivate var localizedText: String { String(describing: self as any Error) }
}
