import HTTPRecovery
import HTTPTypes

/// The scopes whose limits a call counts for, by the keys of the gates that the engine asks for the same call.
struct FacebookScopes: Sendable {
    private let origin: Origin
    private let endpoint: String
    private let credential: String
    private let account: String?
    private let app: String

    init(_ request: HTTPRequest, context: CallContext) {
        let classifier = context.options.classifier ?? context.runtime.classifier
        self.init(
            origin: Origin(of: request),
            endpoint: classifier.endpointClass(method: request.method, path: request.pathWithoutQuery),
            credential: context.options.credentialID
                ?? request.headerFields[.authorization].map { Fingerprint.text(of: $0) } ?? "",
            account: context.options.account,
            app: context.options.app
        )
    }

    init(origin: Origin, endpoint: String, credential: String, account: String? = nil, app: String?) {
        self.origin = origin
        self.endpoint = endpoint
        self.credential = credential
        self.account = account
        self.app = app ?? ""
    }

    /// All of them.
    var keys: [SharedState.Gate.Key] { Outcome.Scope.allCases.compactMap { key(for: $0) } }

    /// The key of a scope.
    func key(for scope: Outcome.Scope) -> SharedState.Gate.Key? {
        switch scope {
        case .endpoint: SharedState.Gate.Key(scope: scope, origin: origin, name: endpoint)
        case .origin, .credential: SharedState.Gate.Key(scope: scope, origin: origin, name: credential)
        case .account: account.map { SharedState.Gate.Key(scope: scope, origin: origin, name: $0) }
        case .app: SharedState.Gate.Key(scope: scope, origin: origin, name: app)
        }
    }

    /// The key of what a reported limit is counted for; nil if it is not this call's.
    func key(for entry: FacebookUsage.Entry) -> SharedState.Gate.Key? {
        switch entry.scope {
        case .app: return key(for: .app)
        case .page: return key(for: .credential)
        case .adAccount, .business:
            let use = endpoint.prefix { $0 != " " }
            // A path that does not tell its use counts for whatever is reported.
            let isOpen = use == "graph" || use == "messages" || use == "batch"
            if let type = entry.type, !isOpen, !type.hasPrefix(use) { return nil }
            return key(for: .endpoint)
        }
    }
}
