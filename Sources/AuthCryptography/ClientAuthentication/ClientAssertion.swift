#if Cryptography
import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// A client's signed statement of who it is, made for one attempt (RFC 7523 section 3).
struct ClientAssertion {
    /// The value of `client_assertion_type` (RFC 7523 section 2.2).
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// The longest life of an assertion: it has to reach the server, and a stolen one is to be of no use.
    static let longestLifetime: Duration = .seconds(60)

    var clientID: String
    var audience: String
    var issuedAt: Timestamp
    var lifetime: Duration
    var random: Runtime.RandomSource
    /// When the assertion expires, by the local clock.
    var staleAt: Timestamp

    /// An assertion for one attempt.
    ///
    /// - Throws: ``ClientAssertionError`` when the audience is not known.
    init(
        _ attempt: OAuthClient.Attempt,
        audience: AssertionAudience,
        lifetime: Duration,
        clocks: ServerClocks?
    ) throws(ClientAssertionError) {
        clientID = attempt.clientID
        self.audience =
            switch audience {
            // Also at the other endpoints of the server, which name their own URL nowhere.
            case .tokenEndpoint: attempt.server[.token] ?? attempt.url
            case .issuer: attempt.server.issuer ?? ""
            case .other(let text): text
            }
        if audience == .issuer, attempt.server.issuer == nil { throw .unknownIssuer }
        let origin = (try? HTTPRequest(url: attempt.url)).map { Origin(of: $0) }
        issuedAt = origin.flatMap { clocks?.time(at: $0, wallTime: attempt.wallTime) } ?? attempt.wallTime
        self.lifetime = lifetime
        random = attempt.random
        // The claim has whole seconds, and counts by the server's clock.
        let expiry = Timestamp(secondsSinceEpoch: issuedAt.advanced(by: lifetime).secondsSinceEpoch)
        staleAt = attempt.wallTime.advanced(by: expiry.elapsed(since: issuedAt))
    }

    /// The claims, with a number that is used once.
    var claims: JSONValue {
        let id = Base64.encodeForURL(random.bytes(16))
        let expiresAt = issuedAt.advanced(by: lifetime)
        return [
            "iss": .string(clientID), "sub": .string(clientID), "aud": .string(audience), "jti": .string(id),
            "iat": .number(JSONValue.Number(issuedAt.secondsSinceEpoch)),
            "exp": .number(JSONValue.Number(expiresAt.secondsSinceEpoch)),
        ]
    }

    /// A lifetime within what is allowed: at least 1 s.
    static func bounded(_ lifetime: Duration) -> Duration {
        min(max(lifetime, .seconds(1)), longestLifetime)
    }
}

extension OAuthClient.Attempt {
    /// Adds a signed assertion to the body; the attempt must not leave after it has expired.
    mutating func add(_ jwt: Secret, of assertion: ClientAssertion) {
        sendBy = sendBy.map { min($0, assertion.staleAt) } ?? assertion.staleAt
        form.add("client_id", clientID)
        form.add("client_assertion_type", ClientAssertion.type)
        form.add("client_assertion", secret: jwt)
    }
}
#endif
