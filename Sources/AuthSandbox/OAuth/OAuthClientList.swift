import HTTPRecovery

/// The `oauth` of a scenario: the applications that are known.
struct OAuthClientList: SandboxPart {
    static let key = "oauth"

    var clients = SandboxOAuthClient.defaults

    private enum CodingKeys: CodingKey {
        case defaultClients, clients
    }

    init() {}

    /// A client of the list replaces a default one with the same id.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        clients = try container.decodeIfPresent(Bool.self, forKey: .defaultClients) ?? true ? clients : []
        for client in try container.decodeIfPresent([SandboxOAuthClient].self, forKey: .clients) ?? [] {
            clients.removeAll { $0.id == client.id }
            clients.append(client)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(clients, forKey: .clients)
    }

    func check(path: String) throws(SandboxError) {
        for (index, client) in clients.enumerated() { try client.check(path: "\(path).clients[\(index)]") }
    }
}

extension SandboxScenario {
    /// Which applications the OAuth provider knows.
    ///
    /// Default: ``SandboxOAuthClient/defaults``.
    public var oauthClients: [SandboxOAuthClient] {
        get { parts[OAuthClientList.self].clients }
        set { parts[OAuthClientList.self].clients = newValue }
    }
}
