public import HTTPRecovery

extension Credentials {
    /// Reads the stored form: a JSON object; unknown members are kept, members of a wrong type count as unknown.
    ///
    /// - Throws: ``TokenStoreError`` when the value is no object.
    public init(json: JSONValue) throws(TokenStoreError) {
        guard let members = json.members else {
            throw TokenStoreError("the stored credentials are not a JSON object")
        }
        self.init()
        for member in members {
            switch (member.key, member.value) {
            case ("access_token", .string(let text)): accessToken = Secret(text)
            case ("refresh_token", .string(let text)): refreshToken = Secret(text)
            case ("client_token", .string(let text)): clientToken = Secret(text)
            case ("sso_token", .string(let text)): ssoToken = Secret(text)
            case ("session_id", .string(let text)): sessionID = text
            case ("expires_at", .number(let number)): expiresAt = Timestamp(sinceEpoch: number.seconds)
            case ("expires_at", .string(let text)):
                if let time = Timestamp(rfc3339: text) {
                    expiresAt = time
                } else {
                    others.append(member)
                }
            default: others.append(member)
            }
        }
    }

    /// The stored form, secrets included: known members first, then those that were kept.
    public var json: JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ key: String, _ value: String?) {
            if let value { members.append(JSONValue.Member(key, .string(value))) }
        }
        add("access_token", accessToken?.reveal())
        add("refresh_token", refreshToken?.reveal())
        add("expires_at", expiresAt?.rfc3339)
        add("client_token", clientToken?.reveal())
        add("session_id", sessionID)
        add("sso_token", ssoToken?.reveal())
        return .object(members + others)
    }
}
