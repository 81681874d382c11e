package import HTTPRecovery

extension OAuthClient {
    /// The keys that a server signs ID tokens with, as far as they are known, for all copies of a client.
    package struct IDTokenKeys: Sendable {
        private let known = Locked<JSONValue?>(nil)

        /// Begins without a key.
        package init() {}

        /// What two clocks may differ by.
        package static let clockLeeway = Duration.seconds(60)

        /// Checks that an ID token is of the server, for the client, still good, and, if somebody can tell, signed by the server
        /// (OpenID Connect Core 1.0 section 3.1.3.7).
        ///
        /// One that is said to be signed by nobody is refused, whoever can tell.
        ///
        /// - Parameters:
        ///   - token: The token.
        ///   - issuer: Who has to have issued it.
        ///   - clientID: Whom it has to be for.
        ///   - now: The server's time, as far as it is known.
        ///   - maxAge: How long ago the person may have proved themselves; nil if nothing was asked about that.
        ///   - signatures: What verifies signatures; nil leaves the connection as the proof.
        ///   - fetch: Asks the server for its keys; called if they are not known, or none of those fits.
        /// - Throws: `RecoveryError` of the kind `invalid_request` with the code `issuer_mismatch`, `audience_mismatch` (for
        ///   another party too), `expiry_mismatch` (also for one without an end), `auth_time_mismatch`, `algorithm_mismatch` or
        ///   `signature_mismatch`; of the kind `unreadable` for an answer that holds no keys; what the fetching throws.
        package func check(
            _ token: Secret,
            issuer: String,
            clientID: String,
            at now: Timestamp,
            maxAge: Duration? = nil,
            signatures: (any SignatureVerifier)?,
            fetching fetch: () async throws -> RecoveredResponse
        ) async throws {
            let read = UnverifiedJWT(token)
            let claims = read?.claims
            guard claims?["iss"]?.string == issuer else { throw Self.mismatch("issuer", claim: "iss") }
            let audience = claims?["aud"]
            guard audience?.string == clientID || audience?.array?.contains(.string(clientID)) == true else {
                throw Self.mismatch("audience", claim: "aud")
            }
            guard claims?["azp"].map({ $0.string == clientID }) ?? true else {
                throw Self.mismatch("audience", claim: "azp")
            }
            guard let end = read?.expiresAt, end.advanced(by: Self.clockLeeway) > now else {
                throw Self.mismatch("expiry", claim: "exp")
            }
            if let maxAge {
                guard let time = read?.time("auth_time"), now.elapsed(since: time) <= maxAge + Self.clockLeeway else {
                    throw Self.mismatch("auth_time", claim: "auth_time")
                }
            }
            guard read?.header["alg"]?.string?.lowercased() != "none" else {
                throw Self.mismatch("algorithm", claim: "alg")
            }
            guard let signatures else { return }
            if let known = known.withLock({ $0 }), signatures.isSigned(token, withOneOf: known) { return }
            // Keys change: the server is asked once more.
            let keys = try Self.keys(in: try await fetch())
            known.withLock { $0 = keys }
            guard signatures.isSigned(token, withOneOf: keys) else {
                throw Self.mismatch("signature", claim: "id_token")
            }
        }

        private static func keys(in response: RecoveredResponse) throws(RecoveryError) -> JSONValue {
            guard let bytes = response.body.bytesInMemory, let keys = try? JSONValue(parsing: Array(bytes)),
                keys["keys"]?.array != nil
            else { throw RecoveryError(.unreadable, in: response) }
            return keys
        }

        /// A token that is not what it should be, by one of its claims.
        package static func mismatch(_ name: String, claim: String) -> RecoveryError {
            var outcome = Outcome(.invalidRequest, processed: .yes, remedies: [.restartFlow])
            outcome.code = "\(name)_mismatch"
            outcome.parameter = claim
            outcome.message = "The ID token's \(name) is not what it has to be."
            return RecoveryError(outcome: outcome, reason: .notRecoverable)
        }
    }
}
