extension FacebookConfiguration {
    /// How people sign in in a browser, by the login dialog at Facebook's site.
    public struct WebLogin: Sendable, Hashable {
        /// Why a person is asked who has been asked before (`auth_type`).
        public enum AuthType: String, Sendable, Hashable, CaseIterable {
            /// Ask again for permissions that were declined, which are skipped silently otherwise.
            case rerequest
            /// Extend the app's access to the person's data.
            case reauthorize
            /// Ask for the password again.
            case reauthenticate
        }

        /// Where the browser comes back to: one of the addresses that are registered for the app.
        ///
        /// Facebook leads nobody to any other, but shows a page, from which nobody comes back.
        public var redirectURI: String
        /// The URL of the site: what stands before the version.
        ///
        /// Nil, the default, is `https://www.facebook.com`, and where
        /// Graph is elsewhere, as in a test, that place.
        public var site: String?
        /// Whether a proof key (RFC 7636) and an ID token with a nonce stand for the app's secret; nil, the default, does so
        /// if the app has no secret here.
        public var usesProofKey: Bool?

        /// Creates a way to sign in.
        ///
        /// - Parameters:
        ///   - redirectURI: Where the browser comes back to.
        ///   - site: The URL of the site; nil is Facebook's.
        ///   - usesProofKey: Whether a proof key stands for the app's secret; nil if there is none.
        public init(redirectURI: String, site: String? = nil, usesProofKey: Bool? = nil) {
            self.redirectURI = redirectURI
            self.site = site
            self.usesProofKey = usesProofKey
        }
    }
}
