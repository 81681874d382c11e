import AuthRecovery
import CommandLineSupport
import HTTPRecovery
import HTTPTypes

/// The credentials that requests carry and how they are renewed, checked.
struct TokenPlan: Sendable {
    /// Where a token is renewed.
    struct Endpoint: Sendable {
        let server: OAuthServer
        /// Its address, without what may be secret.
        let url: String
        let clientID: String
        let secret: Secret?
    }

    let file: String
    let endpoint: Endpoint?
    /// The servers that the token belongs to: those that the person has named.
    let audience: Set<Origin>

    /// Checks the options.
    ///
    /// - Returns: Nil if no token is used.
    init?(_ options: TokenOptions, requests: [HTTPRequest]) throws(InvalidOption) {
        guard let file = options.tokenFile else {
            let rest = [
                ("--token-url", options.tokenURL), ("--client-id", options.clientID),
                ("--client-secret-env", options.clientSecretEnv),
            ]
            for (name, value) in rest where value != nil {
                throw InvalidOption("\(name) needs --token-file, in which the tokens are kept")
            }
            return nil
        }
        guard !file.isEmpty else { throw InvalidOption("--token-file: the path is empty") }
        self.file = file
        self.audience = Set(requests.map { Origin(of: $0) })
        guard let url = options.tokenURL else {
            if options.clientID != nil || options.clientSecretEnv != nil {
                throw InvalidOption("--client-id and --client-secret-env belong to --token-url")
            }
            self.endpoint = nil
            return
        }
        guard let clientID = options.clientID, !clientID.isEmpty else {
            throw InvalidOption("--token-url needs --client-id: who renews the token?")
        }
        do {
            let server = try OAuthServer(endpoints: [.token: url])
            let shown = try HTTPRequest(method: .post, url: url).redactedURL
            let secret = try options.clientSecretEnv.map(Self.secret)
            self.endpoint = Endpoint(server: server, url: shown, clientID: clientID, secret: secret)
        } catch let error as Origin.InvalidURL {
            throw InvalidOption("--token-url: \(error)")
        } catch let error as InvalidOption {
            throw error
        } catch {
            throw InvalidOption("--token-url: \(error)")
        }
    }

    private static func secret(ofVariable name: String) throws(InvalidOption) -> Secret {
        Secret(try Environment.text(name, for: "--client-secret-env"))
    }

    /// Whether tokens would be renewed, if the file held something to do it with.
    var cannotRenew: Bool {
        get async {
            guard endpoint != nil, let stored = try? await CheckedTokenStore(path: file).read() else { return false }
            return stored.credentials.refreshToken == nil
        }
    }

    /// The manager of the tokens.
    ///
    /// - Parameter client: Sends the renewals; it must not renew by itself.
    func manager(client: RecoveringClient) -> TokenManager {
        let renewer = endpoint.map { endpoint in
            let authentication: any ClientAuthentication =
                endpoint.secret.map { .clientSecretBasic($0) } ?? .none
            return RefreshTokenGrant(
                client: OAuthClient(
                    server: endpoint.server,
                    clientID: endpoint.clientID,
                    authentication: authentication,
                    client: client
                )
            )
        }
        return TokenManager(store: CheckedTokenStore(path: file), renewer: renewer)
    }
}
