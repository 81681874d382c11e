import HTTPRecovery
import HTTPRecoveryTesting

@testable import Auth0Auth
@testable import AuthRecovery
@testable import ClerkAuth
@testable import FacebookAuth
@testable import ForgeRockAuth
@testable import OktaAuth

/// Sign-ins that are kept between two requests.
enum SuspensionTargets {
    private static let client = RecoveringClient(transport: ScriptedTransport())
    private static let clerk = try? Clerk(
        frontendAPI: "https://clerk.example.com",
        client: client,
        tokens: InMemoryTokenStore()
    )
    private static let okta = try? Okta(org: "https://okta.example.com", client: client, tokens: InMemoryTokenStore())
    private static let forgeRock = try? ForgeRock(
        baseURL: "https://am.example.com/am",
        client: client,
        tokens: InMemoryTokenStore()
    )
    private static let auth0 = try? Auth0(
        tenant: "https://tenant.example.com",
        client: client,
        tokens: InMemoryTokenStore(),
        configuration: Auth0Configuration(clientID: "app")
    )
    private static let facebook = try? Facebook(
        app: FacebookApp(id: "1", clientToken: Secret("t")),
        client: client,
        tokens: InMemoryTokenStore()
    )

    static func readSuspended(_ bytes: [UInt8]) {
        if let (entry, sealed) = SuspendedSignIn.read(bytes) {
            let written = entry.bytes(sealed)
            guard let (read, content) = SuspendedSignIn.read(written) else {
                fatalError("Not so: a suspended sign-in can be read")
            }
            let isSame = read.state == entry.state && read.step == entry.step && read.endsAt == entry.endsAt
            require(isSame && content == sealed, "a suspended sign-in is read as it was written")
        }
        if let ticket = SignInTicket(Secret(String(decoding: bytes, as: UTF8.self)), of: nil) {
            let read = SignInTicket(ticket.text, of: nil)
            require(read?.step == ticket.step && read?.id.key == ticket.id.key, "a ticket is read as it was written")
        }
        guard let json = try? JSONValue(parsing: bytes) else { return }
        checkContent(json)
        if let clerk { check(json, at: clerk) }
        if let okta { check(json, at: okta) }
        if let forgeRock { check(json, at: forgeRock) }
        if let auth0 { check(json, at: auth0) }
        if let facebook { check(json, at: facebook) }
    }

    private static func checkContent(_ json: JSONValue) {
        guard let content = SuspendedSignIn.Content(memory: json) else { return }
        let text = content.memory.description
        let read = (try? JSONValue(parsing: text)).flatMap { SuspendedSignIn.Content(memory: $0) }
        require(read?.memory == content.memory, "what is sealed is read as it was written: \(text)")
        for notice in content.notices { checkOutcome(notice) }
    }

    /// What is taken up again writes what it was made of.
    private static func check<Provider: SignInProvider>(_ json: JSONValue, at provider: Provider) {
        let flow = SignInFlow<Provider.Session>(memory: json, client: client, options: SignInOptions()) {
            provider.signInMachine(from: $0)
        }
        if let flow {
            let text = flow.memory.description
            guard let value = try? JSONValue(parsing: text) else { fatalError("Not so: \(text) is JSON") }
            let again = SignInFlow<Provider.Session>(memory: value, client: client, options: SignInOptions()) {
                provider.signInMachine(from: $0)
            }
            require(again.map { unordered($0.memory) } == unordered(flow.memory), "a flow is read as written: \(text)")
            _ = flow.present(at: FuzzedAnswer.now)
        }
        guard let machine = provider.signInMachine(from: json) else { return }
        let text = machine.memory.description
        let again = (try? JSONValue(parsing: text)).flatMap { provider.signInMachine(from: $0) }
        require(
            again.map { unordered($0.memory) } == unordered(machine.memory),
            "a machine is read as written: \(text)"
        )
    }

    /// The value with its arrays in one order: sets have none.
    private static func unordered(_ json: JSONValue) -> JSONValue {
        switch json {
        case .array(let elements):
            .array(elements.map(unordered).sorted { $0.description < $1.description })
        case .object(let members): .object(members.map { JSONValue.Member($0.key, unordered($0.value)) })
        default: json
        }
    }
}
