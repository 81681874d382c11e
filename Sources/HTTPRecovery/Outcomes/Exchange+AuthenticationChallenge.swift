public import HTTPTypes

extension Exchange {
    /// A challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field (RFC 9110 section 11).
    public struct AuthenticationChallenge: Sendable, Hashable {
        /// A parameter of a challenge.
        public struct Parameter: Sendable, Hashable {
            /// The name in lower case.
            public let name: String
            /// The value without quotes and escapes.
            public let value: String
        }

        /// The scheme as it was sent, compared without regard to case; empty if a line has parameters and no scheme.
        public var scheme: String

        /// The token68 that stands in place of parameters, such as the token of a Negotiate exchange.
        public var token68: String?

        /// The parameters in the order in which they were sent.
        public var parameters: [Parameter]

        /// Quoted texts without a name, which the grammar does not know and some servers send.
        public var unnamedTexts: [String]

        init(scheme: String) {
            self.scheme = scheme
            self.token68 = nil
            self.parameters = []
            self.unnamedTexts = []
        }

        /// The value of the parameter, by its name in lower case.
        public subscript(name: String) -> String? {
            parameters.first { $0.name == name }?.value
        }

        /// Whether the challenge is of the scheme, whatever the case.
        public func isScheme(_ name: String) -> Bool {
            scheme.lowercased() == name.lowercased()
        }

        /// The error word of the challenge (RFC 6750 section 3), such as `invalid_token`.
        ///
        /// Facebook's servers send `OAuth "Facebook Platform" "invalid_token" "text"`: realm, error and description without
        /// names.
        public var error: String? {
            self["error"] ?? (unnamedTexts.count > 1 ? unnamedTexts[1] : nil)
        }

        /// Whether the challenge speaks of tokens as RFC 6750 and RFC 9449 define it.
        ///
        /// `OAuth` is what the drafts called it; an error without any scheme cannot be about anything else.
        package var isAboutTokens: Bool {
            isScheme("bearer") || isScheme("dpop") || isScheme("oauth") || (scheme.isEmpty && error != nil)
        }

        /// The description that goes with the error word.
        public var errorDescription: String? {
            self["error_description"] ?? (unnamedTexts.count > 2 ? unnamedTexts[2] : nil)
        }
    }
}

extension Exchange.AuthenticationChallenge {
    /// Reads the challenges of all lines of a field.
    ///
    /// What some server sends against the grammar never hides what it sends within it: a challenge with a repeated
    /// parameter is left out, an unterminated quote ends its line, and the others are kept. At most 64 KiB are read.
    ///
    /// - Parameters:
    ///   - fields: The response's header fields.
    ///   - name: The field; `WWW-Authenticate` by default.
    public static func challenges(
        in fields: HTTPFields,
        name: HTTPField.Name = .wwwAuthenticate
    ) -> [Exchange.AuthenticationChallenge] {
        var challenges: [Exchange.AuthenticationChallenge] = []
        var budget = 65_536
        for line in fields.lines(name.canonicalName) {
            budget -= line.utf8.count
            guard budget >= 0 else { break }
            var parser = ChallengeParser(line)
            challenges += parser.parse()
        }
        return challenges
    }
}
