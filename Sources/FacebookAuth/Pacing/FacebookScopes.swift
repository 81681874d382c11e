import HTTPRecovery
import HTTPTypes

/// The scopes whose limits a call counts for, by the keys of the gates that the engine asks for the same call.
struct FacebookScopes: Sendable {
    /// Graph's own origin, whichever of its hosts the call goes to: its limits know no hosts.
    private let origin: Origin
    /// Whether the call goes to another of its hosts, whose gates the engine keeps apart.
    let isElsewhere: Bool
    /// The sort of use.
    private let use: String
    /// The object that the call is about, with its app.
    let subject: Subject
    private let credential: String
    private let account: String?
    private let app: String

    /// An object with its app: limits of two apps have nothing to do with each other.
    struct Subject: Sendable, Hashable {
        var object: String
        var app: String?

        /// What stands between objects that one call is about.
        static let separator: Character = ","

        /// Each of them; itself if it is one.
        var parts: [Subject] {
            object.split(separator: Self.separator).map { Subject(object: String($0), app: app) }
        }

        /// Whether it is several objects.
        var isSeveral: Bool { object.contains(Self.separator) }

        /// How a class of endpoints is called.
        func name(use: String) -> String { "\(use) \(object)" + (app.map { " app \($0)" } ?? "") }
    }

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
        self.origin = origin.ofGraph
        isElsewhere = origin.ofGraph != origin
        use = String(endpoint.prefix { $0 != " " })
        var object = endpoint.dropFirst(use.count + 1)
        let isOfApp = app.map { object.hasSuffix(" app \($0)") } ?? false
        if isOfApp, let app { object = object.dropLast(5 + app.count) }
        subject = Subject(object: String(object), app: isOfApp ? app : nil)
        self.credential = credential
        self.account = account
        self.app = app ?? ""
    }

    /// All of them, with those of the businesses that the objects are known to belong to.
    func keys(within businesses: [String]) -> [SharedState.Gate.Key] {
        Outcome.Scope.allCases.compactMap { key(for: $0) } + unnamed(within: businesses)
    }

    /// Those that the name of the class of endpoints does not tell the engine.
    func unnamed(within businesses: [String]) -> [SharedState.Gate.Key] {
        ((subject.isSeveral ? subject.parts.map(\.object) : []) + businesses).map { key(of: $0) }
    }

    /// The key of a scope.
    func key(for scope: Outcome.Scope) -> SharedState.Gate.Key? {
        switch scope {
        case .endpoint: endpoint(subject.name(use: use))
        case .origin, .credential: SharedState.Gate.Key(scope: scope, origin: origin, name: credential)
        case .account: account.map { SharedState.Gate.Key(scope: scope, origin: origin, name: $0) }
        case .app: SharedState.Gate.Key(scope: scope, origin: origin, name: app)
        }
    }

    /// The key of the call's use of a business.
    private func key(of business: String) -> SharedState.Gate.Key {
        endpoint(Subject(object: business, app: subject.app).name(use: use))
    }

    private func endpoint(_ name: String) -> SharedState.Gate.Key {
        SharedState.Gate.Key(scope: .endpoint, origin: origin, name: name)
    }

    // MARK: Limits

    /// The keys of all uses of an object that a limit holds.
    ///
    /// - Parameters:
    ///   - type: The limit's type, in the words of the usage fields; nil holds all uses.
    ///   - object: The object; nil is that of the call.
    func held(byType type: String?, of object: String? = nil) -> [SharedState.Gate.Key] {
        let subject = Subject(object: object ?? self.subject.object, app: self.subject.app)
        return FacebookUse.held(byType: type).map { endpoint(subject.name(use: $0.rawValue)) }
    }

    /// What shares of limits are remembered by that the call counts for.
    func shares(within businesses: [String]) -> [SharedState.Gate.Key] {
        let types = FacebookUse(rawValue: use)?.types ?? []
        let objects = subject.parts.map(\.object) + businesses
        return [Outcome.Scope.app, .credential].compactMap { key(for: $0) }
            + objects.flatMap { object in types.map { share($0, of: object) } }
    }

    /// What a reported share is remembered by.
    func share(of entry: FacebookUsage.Entry) -> SharedState.Gate.Key? {
        switch entry.scope {
        case .app: key(for: .app)
        case .page: share("pages", of: subject.object)
        case .adAccount: share(FacebookUse.family(ofType: entry.type), of: subject.object)
        case .business(let id): share(FacebookUse.family(ofType: entry.type), of: id)
        }
    }

    private func share(_ type: String, of object: String) -> SharedState.Gate.Key {
        endpoint("share of " + Subject(object: object, app: subject.app).name(use: type))
    }

    /// The gates that a reported limit closes once it is used up.
    func gates(of entry: FacebookUsage.Entry) -> [SharedState.Gate.Key] {
        switch entry.scope {
        case .app: key(for: .app).map { [$0] } ?? []
        case .page: held(byType: "pages")
        case .adAccount: held(byType: entry.type)
        case .business(let id): held(byType: entry.type, of: id)
        }
    }
}

extension Origin {
    /// Where Graph is, for a host beside it: for videos, and for files.
    fileprivate var ofGraph: Origin {
        for host in ["graph-video.", "rupload."] where authority.hasPrefix(host) {
            return Origin(scheme: scheme, authority: "graph." + authority.dropFirst(host.count))
        }
        return self
    }
}
