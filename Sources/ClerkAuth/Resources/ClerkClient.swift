import HTTPRecovery

/// What Clerk knows of this client: its sessions and the sign-in under way.
public struct ClerkClient: Sendable, Hashable {
    /// The id, such as `client_…`.
    public var id: String
    /// The sessions, live or not.
    public var sessions: [ClerkSession]
    /// The session that was used last.
    public var lastActiveSessionID: String?
    /// The sign-in under way.
    public var signIn: ClerkSignIn?
    /// The sign-up under way.
    public var signUp: ClerkSignUp?

    /// Reads a client; nil when the value has no id.
    init?(_ json: JSONValue?) {
        guard let json, let id = json["id"]?.string, !id.isEmpty else { return nil }
        self.id = id
        sessions = json["sessions"]?.array?.compactMap { ClerkSession($0) } ?? []
        lastActiveSessionID = json["last_active_session_id"]?.string
        signIn = ClerkSignIn(json["sign_in"])
        signUp = ClerkSignUp(json["sign_up"])
    }

    /// The session with the id, if the client has it and it is live.
    public func liveSession(_ id: String?) -> ClerkSession? {
        sessions.first { $0.id == id && $0.status.isLive }
    }

    /// The live session that was used last, else any live one.
    public var currentSession: ClerkSession? {
        liveSession(lastActiveSessionID) ?? sessions.first { $0.status.isLive }
    }

    /// Finds the client in an answer: `response`, `client`, `meta.client` or the whole.
    static func find(in json: JSONValue) -> ClerkClient? {
        for candidate in [json["response"], json["client"], json["meta"]?["client"], json] {
            if candidate?["object"]?.string == "client", let client = ClerkClient(candidate) { return client }
        }
        return ClerkClient(json["client"]) ?? ClerkClient(json["meta"]?["client"])
    }
}
