package import AuthRecovery
import HTTPRecovery

/// What is written down of a sign-in between two requests of a web backend.
extension Auth0SignInMachine: RecalledFields {
    static let name = "auth0"

    var memory: JSONValue { [Self.name: recalled] }

    static var fields: [RememberedField<Auth0SignInMachine>] {
        [
            .init("renews", \.renews), .init("addition", \.addition), .init("mark", \.mark), .init("entry", \.entry),
            .init("account", \.account),
            .init("subject", \.subject), .init("subject_type", \.subjectType),
            .init("identifier", \.identifier), .init("password", \.password),
            .init("errand", \.errand), .init("token", \.token), .init("authenticators", \.authenticators),
            .init("challenge", \.challenge), .init("factor", \.factor), .init("enrollable", \.enrollable),
            .init("setup", \.setup), .init("phone", \.phone), .init("interval", \.interval),
        ]
    }
}

extension MFAToken: RememberedFields {
    init() { self.init(value: "", endsAt: Timestamp(secondsSinceEpoch: 0)) }

    static var fields: [RememberedField<MFAToken>] { [.init("value", \.value), .init("ends_at", \.endsAt)] }
}

extension Auth0Authenticator: RememberedFields {
    package init() { self.init(id: "", factor: .identifier) }

    package static var fields: [RememberedField<Auth0Authenticator>] { [.init("id", \.id), .init("factor", \.factor)] }
}

extension Auth0Challenge: RememberedFields {
    init() { self.init(code: "", wantsCode: false) }

    static var fields: [RememberedField<Auth0Challenge>] { [.init("code", \.code), .init("wants_code", \.wantsCode)] }
}
