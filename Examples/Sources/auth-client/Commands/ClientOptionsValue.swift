import CommandLineSupport
import ForgeRockAuth
import HTTPRecovery

/// The options as plain values that can go from task to task.
struct ClientOptionsValue: Sendable {
    let provider: ProviderName
    let baseURL: String
    let identifier: String?
    let passwordFromInput: Bool
    let answers: String?
    let tokenPlace: TokenPlace
    let state: StateOptions
    let network: NetworkOptions
    let sending: SendingOptions
    let clientID: String?
    let clientSecretEnv: String?
    let scope: String?
    let tokenURL: String?
    let deviceURL: String?
    let redirectURI: String?
    let authServer: String?
    let place: String?
    let linkPage: String?
    let ticketEnv: String?
    /// Whether a code signs up whoever has no account.
    let signsInOrUp: Bool
    let idTokenEnv: String?
    let forgeRock: ForgeRockValue
    let facebook: FacebookValue
    let auth0: Auth0Value
    let okta: OktaValue
    let events: String?
    let maxWait: Duration
    let deadline: Duration?
    let json: Bool
    let telling: TellingOptions
    let softwareKey: String?

    init(_ options: AuthClient) {
        provider = options.provider
        baseURL = options.baseURL ?? ""
        identifier = options.identifier
        passwordFromInput = options.passwordFromInput
        answers = options.answers
        tokenPlace = TokenPlace(options)
        state = options.state
        network = options.network
        sending = options.sending
        clientID = options.oauth.clientID
        clientSecretEnv = options.oauth.clientSecretEnv
        scope = options.oauth.scope
        tokenURL = options.oauth.tokenURL
        deviceURL = options.oauth.deviceURL
        redirectURI = options.oauth.redirectURI
        authServer = options.oauth.authServer
        place = options.clerk.place
        linkPage = options.clerk.linkPage
        ticketEnv = options.clerk.ticketEnv
        signsInOrUp = options.way.way == ClerkOptions.signInOrUp
        idTokenEnv = options.clerk.idTokenEnv
        forgeRock = ForgeRockValue(options.forgeRock)
        facebook = FacebookValue(options.facebook)
        auth0 = Auth0Value(options.auth0, way: options.way.way)
        okta = OktaValue(options.okta, way: options.way.way)
        events = options.events
        maxWait = options.maxWait.duration
        deadline = options.deadline?.duration
        // It prints a token and nothing else.
        json = options.json && options.command != .token
        telling = options.telling
        softwareKey = options.softwareKey
    }
}

/// The options for PingAM as plain values.
struct ForgeRockValue: Sendable {
    let realm: String?
    let journey: String?
    let cookieName: String?
    let resume: String?
    let start: JourneyStart?
    let journeyOptions: JourneyOptions
    let deviceName: String?
    let returnURI: String?
    let identityProviders: [String: String]

    init(_ options: ForgeRockOptions) {
        realm = options.realm
        journey = options.journey
        cookieName = options.cookieName
        resume = options.resume
        // What cannot be read was refused before.
        start = try? options.start
        journeyOptions = JourneyOptions(
            forcesAuthentication: options.forcesAuthentication,
            skipsSession: options.skipsSession,
            upgradesSession: options.upgradesSession,
            presentsLoginAtOnce: options.presentsLoginAtOnce
        )
        deviceName = options.deviceName
        returnURI = options.returnURI
        identityProviders = (try? options.endpoints) ?? [:]
    }
}
