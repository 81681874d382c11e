import AuthRecovery
import HTTPRecovery

/// A sign-in or sign-up at another identity provider, which the person visits in a browser.
///
/// The browser comes back at the configuration's redirect URL, which has to be among those that the instance allows.
public struct ClerkRedirect: Sendable, Hashable {
    /// Clerk's name of the way, such as `oauth_google`, `oauth_custom_acme` or `enterprise_sso`.
    public var strategy: String
    /// The name by which Clerk finds the connection, for `enterprise_sso`; to sign up it is an e-mail address.
    public var identifier: String?
    /// Whether somebody who has no account is signed up with what the provider tells of them.
    ///
    /// Default: they are.
    public var signsUp: Bool
    /// Whether they have agreed to the terms, if they are signed up; nil says nothing about it.
    public var legalAccepted: Bool?
    /// What the provider is to ask, such as `select_account`; nil leaves it to the provider.
    public var prompt: String?
    /// Whom the provider is to expect; nil leaves it to the provider.
    public var loginHint: String?

    /// Creates a way.
    public init(
        strategy: String,
        identifier: String? = nil,
        signsUp: Bool = true,
        legalAccepted: Bool? = nil,
        prompt: String? = nil,
        loginHint: String? = nil
    ) {
        self.strategy = strategy
        self.identifier = identifier
        self.signsUp = signsUp
        self.legalAccepted = legalAccepted
        self.prompt = prompt
        self.loginHint = loginHint
    }

    /// A social provider, by Clerk's name: `google`, `github`, `custom_acme`.
    public static func oauth(_ provider: String) -> ClerkRedirect {
        ClerkRedirect(strategy: "oauth_\(provider)")
    }

    /// The connection of an enterprise, by somebody's e-mail address.
    public static func enterprise(_ identifier: String) -> ClerkRedirect {
        ClerkRedirect(strategy: "enterprise_sso", identifier: identifier)
    }

    /// The question that sends the person there.
    func question(_ url: Secret) -> Challenge {
        Challenge(factor: Factor(key: .redirect, providerName: strategy), url: url)
    }

    /// Whether a strategy is a visit to another provider.
    static func isRedirect(_ strategy: String) -> Bool {
        strategy == "enterprise_sso" || strategy == "saml"
            || strategy.hasPrefix("oauth_") && !strategy.hasPrefix("oauth_token_")
    }

    /// Adds the way to the form that begins a sign-in or sign-up; a sign-up calls the identifier `email_address`.
    func add(to form: inout FormFields, as field: String = "identifier", _ configuration: ClerkConfiguration) {
        form.add("strategy", strategy)
        if form[field].isEmpty { form.add(field, identifier) }
        form.add("redirect_url", configuration.redirectURL)
        addHints(to: &form)
    }

    /// Adds what the provider is to know and to ask.
    func addHints(to form: inout FormFields) {
        form.add("oidc_prompt", prompt)
        form.add("oidc_login_hint", loginHint)
    }
}

/// Where the browser came back from another provider.
struct RedirectCallback {
    /// What the way back has brought for this client; without one the state of the flow tells.
    ///
    /// It works once, and the answer to it brings a new client token.
    let nonce: Secret?

    /// Reads an address.
    ///
    /// - Throws: `RecoveryError` of the kind `declined` for an empty one: the browser was closed, and nothing has happened at
    ///   Clerk.
    init(_ address: Secret) throws {
        // Byte by byte: a sign that joins a character must not hide where the query begins and ends.
        let text = Array(address.reveal().utf8)
        guard !text.allSatisfy(\.isWhitespace) else {
            throw RecoveryError(
                outcome: Outcome(.declined, processed: .no, remedies: [.switchFactor, .restartFlow]),
                reason: .notRecoverable
            )
        }
        let query = text.drop { $0 != UInt8(ascii: "?") }.dropFirst().prefix { $0 != UInt8(ascii: "#") && $0 > 0x20 }
        let nonces = FormFields(parsing: query)["rotating_token_nonce"].filter { !$0.isEmpty }
        nonce = nonces.count == 1 ? nonces.first : nil
    }
}

extension ClerkFactorCalls {
    /// Reads what has become of a flow at another provider.
    func read(_ path: String, after address: Secret) async throws -> ClerkAnswer {
        var call = ClerkAPI.Call(path: path)
        if let nonce = try RedirectCallback(address).nonce {
            call.query.add("rotating_token_nonce", secret: nonce)
            call.resend = .spending
            // Who comes back may not be known before the answer: what can be presented once stands for them.
            call.account = account ?? "visit \(Fingerprint.text(of: nonce.reveal()))"
        }
        return try await perform(call)
    }
}
