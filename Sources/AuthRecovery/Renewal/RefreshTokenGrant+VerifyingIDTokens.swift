package import HTTPRecovery

extension RefreshTokenGrant {
    /// Renews tokens, and takes an ID token that comes with them only after it was verified.
    package struct VerifyingIDTokens: TokenRenewer {
        private let grant: RefreshTokenGrant
        private let verify: @Sendable (Secret, RecoveryOperation) async throws -> Void

        /// Creates the renewer.
        ///
        /// - Parameters:
        ///   - grant: Renews the tokens.
        ///   - verify: Checks an ID token as that of a sign-in is checked, within the renewal; it throws what
        ///     ``OAuthClient/IDTokenKeys`` does.
        package init(
            _ grant: RefreshTokenGrant,
            verify: @escaping @Sendable (Secret, RecoveryOperation) async throws -> Void
        ) {
            self.grant = grant
            self.verify = verify
        }

        /// What may be done with a refresh token after the answer to its use was lost.
        package var reuse: RefreshTokenGrant.Reuse { grant.reuse }

        /// Whether the credentials hold a refresh token.
        package func canRenew(_ credentials: Credentials) -> Bool { grant.canRenew(credentials) }

        /// Presents the refresh token once, and checks the ID token that comes.
        ///
        /// - Throws: As the grant does; `RecoveryError` of the kind `invalid_request` with a code that ends in `_mismatch`
        ///   for an ID token that is not what it should be. `CancellationError` as soon as the task is cancelled.
        package func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
            var renewed = try await grant.renew(credentials, in: operation)
            guard let token = renewed.idToken, token != credentials.idToken else { return renewed }
            do {
                try await verify(token, operation)
                try Self.check(token, follows: credentials.idToken)
            } catch let error as RecoveryError where error.outcome.code?.hasSuffix("_mismatch") != true {
                // The server's keys cannot be had now. What was renewed stays renewed, for the old refresh token may be
                // used up; but nobody is named by what nobody has verified.
                try Task.checkCancellation()
                renewed.idToken = credentials.idToken
            }
            return renewed
        }

        /// Whether it names the person that the one before has named (OpenID Connect Core 1.0 section 12.2).
        private static func check(_ token: Secret, follows former: Secret?) throws {
            guard let former = former.flatMap({ UnverifiedJWT($0) })?.subject else { return }
            guard UnverifiedJWT(token)?.subject == former else {
                throw OAuthClient.IDTokenKeys.mismatch("subject", claim: "sub")
            }
        }
    }
}
