import AuthRecovery
import HTTPRecovery

/// A sign-in by the login dialog as a machine: the person's browser is sent to the dialog, and the answer is where it came
/// back.
struct FacebookWebSignInMachine: SignInMachine {
    private var dialog: FacebookLoginDialog
    private var request: OAuthClient.AuthorizationRequest?

    init(_ dialog: FacebookLoginDialog) {
        self.dialog = dialog
    }

    var openingFactor: Factor? { nil }

    mutating func enter(_ context: SignInContext) {
        dialog = dialog.within(context.operation)
    }

    /// Nothing is sent: the browser goes there.
    mutating func begin() async throws -> SignInStep<FacebookSession> {
        let request = try dialog.request()
        self.request = request
        return .ask(dialog.challenge(for: request))
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<FacebookSession> { try await begin() }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<FacebookSession> {
        guard let request else { return try await begin() }
        // An answer is used up, unless it turns out to be none to this request.
        self.request = nil
        do {
            return .finished(try await dialog.finish(request, at: answer))
        } catch let error as RecoveryError where error.outcome.parameter == "state" {
            self.request = request
            throw error
        }
    }

    /// Another request: an address that was given out before answers it no more.
    mutating func resend(
        _ factor: Factor,
        waitingAtMost limit: Duration?
    ) async throws -> SignInStep<FacebookSession> {
        try await begin()
    }

    mutating func replace(
        _ factor: Factor,
        after refusal: RecoveryError?
    ) async throws -> SignInStep<FacebookSession> {
        if let refusal { throw refusal }
        return .choose([])
    }
}

extension FacebookWebSignInMachine: RecalledFields {
    var memory: JSONValue { ["web": recalled] }

    /// Takes up again what was written down; nil if it is none.
    init?(_ dialog: FacebookLoginDialog, from memory: JSONValue) {
        self.init(dialog)
        guard let recalled = memory["web"], recall(recalled) else { return nil }
    }

    static var fields: [RememberedField<FacebookWebSignInMachine>] {
        [
            .init("permissions", \.dialog.permissions), .init("auth_type", \.authType),
            .init("request", \.requestMemory),
        ]
    }

    private var authType: String? {
        get { dialog.authType?.rawValue }
        set { dialog.authType = newValue.flatMap { FacebookConfiguration.WebLogin.AuthType(rawValue: $0) } }
    }

    private var requestMemory: RequestMemory? {
        get { request.map { RequestMemory($0) } }
        set { request = newValue?.request }
    }
}

/// A request as it is written down.
private struct RequestMemory: RememberedFields {
    var url = ""
    var state: Secret = ""
    var nonce: Secret?
    var verifier: Secret = ""
    var redirectURI = ""

    init() {}

    init(_ request: OAuthClient.AuthorizationRequest) {
        (url, state, nonce) = (request.url, request.state, request.nonce)
        (verifier, redirectURI) = (request.proofKey.verifier, request.redirectURI)
    }

    var request: OAuthClient.AuthorizationRequest? {
        OAuthClient.ProofKey(verifier: verifier).map { key in
            OAuthClient.AuthorizationRequest(
                url: url,
                state: state,
                nonce: nonce,
                proofKey: key,
                redirectURI: redirectURI,
                issuer: nil,
                requiresIssuer: false
            )
        }
    }

    static var fields: [RememberedField<RequestMemory>] {
        [
            .init("url", \.url), .init("state", \.state), .init("nonce", \.nonce), .init("verifier", \.verifier),
            .init("redirect_uri", \.redirectURI),
        ]
    }
}
