public import HTTPRecovery

extension OAuthClient {
    /// Sign-ins at an OAuth server by device login (RFC 8628), from ``OAuthClient/deviceSignIn(scope:parameters:storingIn:)``.
    public struct DeviceSignIn: SignInProvider {
        private var oauth: OAuthClient
        private let scope: String?
        private let parameters: FormFields
        private let store: (any TokenStore)?

        init(oauth: OAuthClient, scope: String?, parameters: FormFields, store: (any TokenStore)?) {
            self.oauth = oauth
            self.scope = scope
            self.parameters = parameters
            self.store = store
        }

        /// Sends the requests.
        public package(set) var client: RecoveringClient {
            get { oauth.client }
            set { oauth.client = newValue }
        }

        /// A sign-in: nothing is sent before its first step.
        ///
        /// - Parameter options: How often a login that ran out is begun again, and the bounds of the waits between two polls.
        public func signInFlow(options: SignInOptions = SignInOptions()) -> SignInFlow<OAuthClient.TokenAnswer> {
            SignInFlow(DeviceSignInMachine(self), client: client, options: options)
        }

        /// Takes a sign-in up again.
        public func signInMachine(from memory: JSONValue) -> (any SignInMachine<OAuthClient.TokenAnswer>)? {
            DeviceSignInMachine(self, from: memory)
        }
    }
}

extension OAuthClient.DeviceSignIn: DeviceLoginServer {
    package var wish: JSONValue {
        get { .null }
        set {}
    }

    package var rules: DeviceLoginRules {
        DeviceLoginRules(expired: Self.expired) { $0.code == OAuthError.Word.slowDown.rawValue }
    }

    /// What a login comes to that has lasted too long.
    private static var expired: Outcome {
        var outcome = Outcome(.flowExpired, processed: .no, remedies: [.restartFlow])
        outcome.code = OAuthError.Word.expiredToken.rawValue
        outcome.tokenAction = .clear
        return outcome
    }

    package func begin() async throws -> OAuthClient.DeviceAuthorization {
        try await oauth.authorizeDevice(scope: scope, parameters: parameters)
    }

    package func poll(_ device: OAuthClient.DeviceAuthorization) async throws -> RecoveredResponse {
        let grant = OAuthClient.Grant.deviceCode(device.deviceCode)
        return try await oauth.perform(
            OAuthClient.Call(
                endpoint: .token,
                form: grant.form,
                presents: grant.presents,
                resend: grant.resend,
                sendBy: RequestOptions.SendBy(time.wallTime(at: device.expiresAt), orElse: Self.expired),
                classifier: OAuthEndpointClassifier(expects: .tokens, isPolling: true)
            )
        ).response
    }

    package func finish(_ response: RecoveredResponse) async throws -> OAuthClient.TokenAnswer {
        let answer = try oauth.answer(in: response).tokens
        try await store?.keep { $0 = answer.merged(into: Credentials(others: $0.others)) }
        return answer
    }
}
