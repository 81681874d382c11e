public import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// For whom a server asks: the person's address and their device, which limits and policies go by.
struct OktaForwarding: ClientLayer {
    let address: String
    let deviceToken: Secret?

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var request = request
        add(to: &request.headerFields)
        return try await next(request, body: body, context: context)
    }

    private func add(to fields: inout HTTPFields) {
        if let name = HTTPField.Name("X-Forwarded-For") { fields[name] = address }
        guard let deviceToken, let name = HTTPField.Name("X-Device-Token") else { return }
        var field = HTTPField(name: name, value: deviceToken.reveal())
        field.indexingStrategy = .disallow
        fields[fields: name] = [field]
    }
}

extension Okta {
    /// The same org, asked for somebody at this address, so that limits and policies of the org go by it and not by
    /// that of a server which all its users share.
    ///
    /// The org believes it of the addresses that its administrator has named as trusted proxies. Each step of a sign-in
    /// between requests is taken at an org that is asked for the same address.
    ///
    /// A renewal of the app's tokens carries neither. ``tokens`` are the same for whoever is acted for: one renewal serves
    /// all calls that wait for it and outlives the one that has begun it, so that nothing of a single call goes along. In
    /// the org's limits it counts with the address of the server that asks.
    ///
    /// - Parameters:
    ///   - address: The person's IP address, as `X-Forwarded-For`.
    ///   - deviceToken: What tells the person's device apart, as `X-Device-Token`, which the org takes of a
    ///     confidential app; nil sends none.
    public func acting(forAddress address: String, deviceToken: Secret? = nil) -> Okta {
        var okta = self
        okta.api.forwarding = OktaForwarding(address: address, deviceToken: deviceToken)
        return okta
    }
}

extension OktaAPI {
    /// The client of an app, which asks for whom the org is asked.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - client: Sends the requests; nil for that of the API.
    ///   - classifier: Tells what the answers mean.
    func oauth(
        for app: OktaApp,
        by client: RecoveringClient? = nil,
        judgedBy classifier: any OutcomeClassifier = OktaClassifier()
    ) throws(Origin.InvalidURL) -> OAuthClient {
        try app.oauth(at: org, client: client ?? self.client, learning: clocks, for: forwarding, judgedBy: classifier)
    }
}
