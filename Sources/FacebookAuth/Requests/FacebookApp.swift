public import AuthRecovery

/// An app that is registered at Facebook.
public struct FacebookApp: Sendable {
    /// The app's id.
    public var id: String
    /// The app's secret; nil if the program must not have it, as in one that is handed out.
    ///
    /// It is needed to renew tokens and to ask what is wrong with one.
    public var secret: Secret?
    /// The app's client token, which the device login presents; nil without device login.
    public var clientToken: Secret?
    /// Makes the proof that goes with each token; nil sends none.
    public var prover: (any AppSecretProver)?

    /// Creates an app.
    public init(
        id: String,
        secret: Secret? = nil,
        clientToken: Secret? = nil,
        prover: (any AppSecretProver)? = nil
    ) {
        self.id = id
        self.secret = secret
        self.clientToken = clientToken
        self.prover = prover
    }

    /// The token of the app itself; nil without a secret.
    var token: Secret? { secret.map { Secret("\(id)|\($0.reveal())") } }

    /// The token that tells which app a client is of; nil without one.
    var identification: Secret? { clientToken.map { Secret("\(id)|\($0.reveal())") } }
}
