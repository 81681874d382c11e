import HTTPRecovery

extension Credentials {
    /// The ID token that came with the tokens, kept as `id_token`; it proves at the end whose session is to be ended.
    package var idToken: Secret? {
        get { others.last { $0.key == Self.idTokenKey }?.value.string?.nonEmpty.map { Secret($0) } }
        set {
            others.removeAll { $0.key == Self.idTokenKey }
            if let newValue { others.append(JSONValue.Member(Self.idTokenKey, .string(newValue.reveal()))) }
        }
    }

    private static let idTokenKey = "id_token"
}
