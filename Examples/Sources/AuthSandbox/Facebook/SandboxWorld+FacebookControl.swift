// The endpoints under `/_sandbox/facebook`.
extension SandboxWorld {
    /// One line for each endpoint.
    static let facebookControlIndex: [(String, JSONValue)] = [
        ("GET /_sandbox/facebook", "Facebook's counters, everybody's state, blocks and devices that wait"),
        (
            "POST /_sandbox/facebook/issue",
            """
            issue a token: {user, behaviour?: good|removed|checkpoint|password_changed|expired|unconfirmed|logged_out|\
            no_role|inactive, page?: id, expires_in?: seconds}; answered with {access_token, user_id}
            """
        ),
        (
            "POST /_sandbox/facebook/behaviour",
            "change how a person's tokens behave: {user, behaviour}; answered with {changed}"
        ),
        ("POST /_sandbox/facebook/visit", "a person settles at the site what is to be settled: {user}; {settled}"),
        (
            "POST /_sandbox/facebook/device",
            "decide about a device: {user_code?: else the newest that waits, decision?: approve|deny, user}"
        ),
        ("POST /_sandbox/facebook/code", "a code of the login dialog: {user, redirect_uri, scope?}; {code}"),
        ("POST /_sandbox/facebook/password", "a person changes their password: {user}"),
        ("POST /_sandbox/facebook/remove", "a person removes the app: {user}"),
        (
            "POST /_sandbox/facebook/permission",
            "a permission changes: {user, permission, status: granted|declined|expired}"
        ),
        (
            "POST /_sandbox/facebook/block",
            """
            a limit is reached: {code?: 4|17|32|613|80000…80014, seconds, user?, account?: act_1}; each call meanwhile \
            makes it longer
            """
        ),
        ("POST /_sandbox/facebook/unfinished", "the next items of batches are answered with null: {count}"),
    ]

    /// Answers a request to `/_sandbox/facebook…`; nil for one to somewhere else.
    mutating func controlFacebook(
        _ name: String,
        _ request: SandboxRequest,
        now: Int64
    ) throws(SandboxError) -> JSONValue? {
        guard name.contains(" facebook") else { return nil }
        if name == "GET facebook" { return facebook.view(now: now) }
        var reader = try ObjectReader(body(request), path: "body")
        let user = try reader.string("user")
        func named() throws(SandboxError) -> String {
            guard let user else { throw SandboxError(.invalidInput, "user is missing") }
            return user
        }
        switch name {
        case "POST facebook/issue":
            let behaviour = try Self.behaviour(&reader) ?? .good
            let (page, lifetime) = (try reader.string("page"), try reader.seconds("expires_in"))
            try reader.finish()
            let token = try facebook.issueToken(
                for: named(),
                behaviour: behaviour,
                page: page,
                lifetime: lifetime,
                settings: settings.facebook,
                now: now
            )
            return ["access_token": .string(token), "user_id": .optional(try facebook.known(named()).id)]
        case "POST facebook/behaviour":
            guard let behaviour = try Self.behaviour(&reader) else {
                throw SandboxError(.invalidInput, "behaviour is missing")
            }
            try reader.finish()
            return ["changed": .int(Int64(try facebook.setBehaviour(behaviour, of: named())))]
        case "POST facebook/visit":
            try reader.finish()
            return ["settled": .int(Int64(try facebook.visit(named())))]
        case "POST facebook/device":
            let userCode = try reader.string("user_code")
            let decision = try reader.word("decision", of: ["approve", "deny"]) ?? "approve"
            try reader.finish()
            let person = decision == "approve" ? try named() : nil
            let decided = try facebook.decide(userCode: userCode, user: person, now: now)
            return ["user_code": .string(decided), "decision": .string(decision)]
        case "POST facebook/code":
            guard let redirectURI = try reader.string("redirect_uri") else {
                throw SandboxError(.invalidInput, "redirect_uri is missing")
            }
            let scopes = (try reader.string("scope") ?? "public_profile").split { $0 == "," || $0 == " " }.map(
                String.init
            )
            try reader.finish()
            let person = try facebook.known(named())
            return ["code": .string(facebook.makeCode(person.id, redirectURI, scopes, settings.facebook, now: now))]
        case "POST facebook/password":
            try reader.finish()
            facebook.people[try facebook.known(named()).id]?.passwordChangedAt = now
            return ["changed": .optional(user)]
        case "POST facebook/remove":
            try reader.finish()
            facebook.people[try facebook.known(named()).id]?.appRemovedAt = now
            return ["removed": .optional(user)]
        case "POST facebook/permission":
            guard let permission = try reader.string("permission") else {
                throw SandboxError(.invalidInput, "permission is missing")
            }
            let status = try reader.word("status", of: ["granted", "declined", "expired"]) ?? "granted"
            try reader.finish()
            facebook.people[try facebook.known(named()).id]?.set(permission, status)
            return ["permission": .string(permission), "status": .string(status)]
        case "POST facebook/block":
            let code = try reader.int("code", 0...1_000_000_000) ?? 4
            guard let time = try reader.seconds("seconds") else {
                throw SandboxError(.invalidInput, "seconds is missing")
            }
            let account = try reader.string("account")
            try reader.finish()
            try facebook.block(code: code, user: user, account: account, until: now + time)
            return ["code": .int(code), "seconds": .seconds(time)]
        case "POST facebook/unfinished":
            facebook.unfinishedItems = try reader.int("count", 0...1_000_000) ?? 1
            try reader.finish()
            return ["count": .int(facebook.unfinishedItems)]
        default:
            return nil
        }
    }

    private static func behaviour(_ reader: inout ObjectReader) throws(SandboxError) -> SandboxFacebookBehaviour? {
        guard let word = try reader.string("behaviour") else { return nil }
        guard let behaviour = SandboxFacebookBehaviour(word: word) else {
            let known = SandboxFacebookBehaviour.all.map(\.name).joined(separator: ", ")
            throw reader.wrong("behaviour", "one of " + known)
        }
        return behaviour
    }
}
