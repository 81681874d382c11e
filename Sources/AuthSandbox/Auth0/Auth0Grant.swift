import HTTPRecovery

/// What a client has been granted: for which API, and what it may do there.
struct Auth0Grant: Sendable {
    /// The API; nil for the tenant's own profile alone.
    let audience: String?
    /// In the order in which they were asked for.
    let scopes: [String]
    /// What the answer tells of it; nil if it is what was asked for.
    let told: String?

    init(_ scopes: [String], audience: String?, asked: [String]?) {
        self.scopes = scopes
        self.audience = audience
        told = scopes == asked ? nil : scopes.joined(separator: " ")
    }

    func has(_ scope: String) -> Bool { scopes.contains(scope) }

    /// Whether it is for what people prove themselves with.
    var isForFactors: Bool { audience?.hasSuffix(Auth0Exchange.factorAudience) ?? false }
}

extension Auth0Exchange {
    /// The API for what people prove themselves with, below the tenant, and what may be done there.
    static let factorAudience = "/mfa/"
    private static let factorScopes = ["enroll", "read:authenticators", "remove:authenticators"]

    /// What whoever asks for nothing gets.
    private static let standard = ["openid", "profile", "email", "address", "phone"]

    /// What is granted to a request that signs somebody in; scopes that nobody knows are left out.
    func grant() throws(Auth0Failure) -> Auth0Grant { try grant(scope: self["scope"], audience: self["audience"]) }

    /// What is granted to who asks for this.
    func grant(scope: String?, audience: String?) throws(Auth0Failure) -> Auth0Grant {
        let audience = try known(audience)
        let scopes = scope.map { $0.split(separator: " ").map(String.init) }
        guard let scopes else { return Auth0Grant(Self.standard, audience: audience, asked: nil) }
        var known = Self.standard
        let isForFactors = audience == tenant + Self.factorAudience
        if audience != nil { known += isForFactors ? Self.factorScopes : settings.permissions }
        if audience == nil || isForFactors || settings.allowsOfflineAccess { known.append("offline_access") }
        return Auth0Grant(scopes.filter(known.contains), audience: audience, asked: scopes)
    }

    /// What is granted to a renewal: what was before, or as much of it as is asked for.
    func grant(within before: Auth0Grant) throws(Auth0Failure) -> Auth0Grant {
        let audience = try known(self["audience"]) ?? before.audience
        guard let scopes = self["scope"].map({ $0.split(separator: " ").map(String.init) }) else {
            return Auth0Grant(before.scopes, audience: audience, asked: before.scopes)
        }
        return Auth0Grant(scopes.filter(before.has), audience: audience, asked: scopes)
    }

    private func known(_ audience: String?) throws(Auth0Failure) -> String? {
        guard let audience else { return nil }
        guard settings.audiences.contains(audience) || audience == tenant + Self.factorAudience else {
            throw Auth0Failure(403, "access_denied", "Service not found: \(audience.prefix(200))")
        }
        return audience
    }
}
