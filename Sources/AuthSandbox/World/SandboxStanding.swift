/// How somebody stands with one provider, as the page of the sandbox shows it.
struct SandboxStanding: Sendable {
    /// The person, as the provider knows them.
    let user: SandboxUser
    /// What their password is there; nil where they have none.
    var password: String?
    /// The code that their authenticator shows; nil where they have none.
    var totp: String?
    /// Failures since the last success.
    var failures: Int64 = 0
    var lock = SandboxLock.open
    /// How many sessions they have.
    var sessions = 0

    /// Somebody who has not done anything yet.
    init(_ user: SandboxUser, now: Int64) {
        self.user = user
        password = user.password
        totp = user.totpSecret.flatMap(Base32.decode).map {
            TOTP.code(secret: $0, step: TOTP.step(atMilliseconds: now))
        }
    }
}

/// A page where somebody signs in with a browser.
struct SandboxLink: Encodable, Sendable {
    let title: String
    /// The path and the query.
    let href: String

    /// A page, whose query is the fields.
    init(_ title: String, _ path: String, _ fields: KeyValuePairs<String, String> = [:]) {
        self.title = title
        let query = fields.map { "\($0.key)=\(FormEncoding.encode($0.value))" }.joined(separator: "&")
        href = path + (query.isEmpty ? "" : "?" + query)
    }
}
