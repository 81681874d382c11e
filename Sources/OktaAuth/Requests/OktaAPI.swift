import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// An org's APIs as a client without a browser calls them.
struct OktaAPI: Sendable, ClientBound {
    let org: OktaOrg
    var client: RecoveringClient
    let tokens: any TokenStore
    var configuration: OktaConfiguration
    /// The account that a sign-in is for, so that a lockout holds for it.
    var account: String?
    /// For whom a server asks; nil for a program on the person's machine.
    var forwarding: OktaForwarding?
    /// The id of the person whose tokens a sign-in has to bring; nil for anybody's.
    var holder: String?
    /// When the transaction ends whose state token the calls present; nil if that is not known.
    var transactionEndsAt: Timestamp?
    /// The keys that the app's server signs with, as far as they are known, for all copies.
    let knownKeys = OAuthClient.IDTokenKeys()
    /// What answers with tokens have told of the server's clock, for all copies.
    let clocks = ServerClocks(capacity: 1)
    /// What the org is known to run on, for all copies.
    let knownPipeline = Locked<Okta.Pipeline?>(nil)

    /// What one call is.
    struct Call {
        var request: HTTPRequest
        var body: JSONValue?
        /// A body that is no step's, in place of one.
        var content: ProviderRequest.Content?
        var resend: RequestOptions.ResendPermission = .spending
        var presents: Outcome.CredentialKind?
        var purpose = OktaCallPurpose.step
        /// Whether a lockout of the account holds the call.
        var isAttempt = false
        var layers: [any ClientLayer] = []
        /// Policies of the call, asked before all others.
        var policies: [any RecoveryPolicy] = []

        /// What an error means for the call: if a step may have spent what it carried, nothing is offered that would send it
        /// again; with a transaction, what became of it can be read.
        func conclusion(of error: RecoveryError) -> RecoveryError {
            guard resend == .spending, [.transport, .timedOut, .unavailable].contains(error.kind),
                error.outcome.processed != .no, error.outcome.factorResult == nil
            else { return error }
            var error = error
            error.outcome.remedies = presents == .state ? [.resync, .askUser] : [.askUser]
            return error
        }
    }

    /// Performs a call.
    func send(_ call: Call) async throws -> RecoveredResponse {
        var request = call.request
        request.headerFields[.accept] = request.headerFields[.accept] ?? "application/json"
        let content = call.content ?? call.body.map { .json($0) }
        let body = content?.body(typedIn: &request.headerFields)
        if let fingerprint = configuration.deviceFingerprint, let name = HTTPField.Name("X-Device-Fingerprint") {
            request.headerFields[name] = fingerprint
        }
        if let token = configuration.deviceToken {
            var field = HTTPField(name: .cookie, value: "DT=\(token.reveal())")
            field.indexingStrategy = .disallow
            request.headerFields.append(field)
        }
        let options = RequestOptions(
            resend: call.resend,
            sendBy: call.presents == .state
                ? transactionEndsAt.map { RequestOptions.SendBy($0, orElse: Self.transactionOver) } : nil,
            classifier: call.purpose.classifier,
            account: call.isAttempt ? account : nil,
            // Steps present no credential that limits are counted by.
            credentialID: call.presents == .access || call.presents == .session ? nil : "",
            presents: call.presents,
            attemptLayers: [OktaRetryFields()] + [forwarding].compactMap(\.self) + call.layers,
            policies: call.policies,
            followsRedirects: false
        )
        do {
            return try await client.send(request, body: body, options: options)
        } catch let error as RecoveryError {
            throw call.conclusion(of: error)
        }
    }

    /// Performs a step of a transaction.
    ///
    /// - Returns: Where it stands then; nil if the answer tells no status, as that of a cancellation.
    /// - Throws: `RecoveryError`; if the answer is a state that the flow does not go on from by itself (a lockout, a
    ///   push that was rejected), its response holds the state.
    func step(_ call: Call) async throws -> OktaTransaction? {
        let response = try await send(call)
        guard let bytes = response.body.bytesInMemory else { throw RecoveryError(.unreadable, in: response) }
        if bytes.isEmpty { return nil }
        guard let json = try? JSONValue(parsing: Array(bytes)) else { throw RecoveryError(.unreadable, in: response) }
        return transaction(json, in: response)
    }

    func transaction(_ json: JSONValue, in response: RecoveredResponse) -> OktaTransaction? {
        let clock = ServerClock(response.headerFields, receivedAt: client.runtime.time.wallTime)
        var transaction = OktaTransaction(json, date: clock.now)
        if let lifetime = transaction?.lifetime, lifetime > .zero {
            transaction?.endsAt = client.runtime.time.wallTime.advanced(by: lifetime)
        }
        return transaction
    }

    /// What the org would say to a state token that has expired.
    private static let transactionOver = Outcome(.flowExpired, processed: .no, remedies: [.restartFlow])

    /// The transaction that a refusal has left behind, if its answer shows one.
    func transaction(leftBy error: RecoveryError) -> OktaTransaction? {
        guard let response = error.response, (200..<300).contains(response.status.code),
            let bytes = response.body.bytesInMemory, let json = try? JSONValue(parsing: Array(bytes))
        else { return nil }
        return transaction(json, in: response)
    }
}
