public import HTTPRecovery

/// What Facebook says about a token (`debug_token`).
public struct FacebookTokenInfo: Sendable, Hashable {
    /// Whether the token can be used.
    public var isValid: Bool
    /// Why not; nil if it can.
    public var refusal: Outcome?
    /// The app that it was issued to.
    public var appID: String?
    /// Its sort, such as `USER`, `PAGE`, `APP` or `SYSTEM_USER`.
    public var type: String?
    /// Whose it is.
    public var userID: String?
    /// When it ends; nil if it does not, or that is not said.
    public var expiresAt: Timestamp?
    /// When the person's data may not be read with it any more; nil if that is not limited.
    public var dataAccessExpiresAt: Timestamp?
    /// When it was issued.
    public var issuedAt: Timestamp?
    /// The permissions that it has.
    public var scopes: [String]
    /// What each of the permissions that are given object by object, such as pages, holds for.
    ///
    /// An object that the person has left out is refused like one that does not exist, although the permission is granted.
    public var granularScopes: [GranularScope]

    /// A permission with the objects that it was given for.
    public struct GranularScope: Sendable, Hashable {
        /// The permission, such as `pages_show_list`.
        public var name: String
        /// The ids of the objects; nil if it holds for all.
        public var targetIDs: [String]?

        /// Creates a permission with its objects.
        public init(name: String, targetIDs: [String]? = nil) {
            (self.name, self.targetIDs) = (name, targetIDs)
        }

        init?(_ json: JSONValue) {
            guard let name = json["scope"]?.string?.nonEmpty else { return nil }
            self.name = name.bounded(to: 128)
            targetIDs = json["target_ids"]?.array?.prefix(10_000).compactMap { $0.codeText?.bounded(to: 64) }
        }
    }

    /// Whether it may use a permission with an object; without an object, whether with any at all.
    ///
    /// - Parameters:
    ///   - permission: The permission, such as `pages_show_list`.
    ///   - id: The object's id, such as a page's; nil for a permission that is not given object by object.
    public func grants(_ permission: String, for id: String? = nil) -> Bool {
        guard isValid, scopes.contains(permission) || granularScopes.contains(where: { $0.name == permission }) else {
            return false
        }
        let lists = granularScopes.filter { $0.name == permission }
        guard let id, !lists.isEmpty else { return true }
        return lists.contains { $0.targetIDs?.contains(id) ?? true }
    }

    /// Whether it is alive, and only the person has to settle something at Facebook.
    public var needsPerson: Bool { refusal?.kind == .userActionRequired }

    /// Reads the answer; nil if it holds no data.
    init?(_ body: JSONValue, outcome: Outcome) {
        guard let data = body["data"], data.members != nil else { return nil }
        isValid = data["is_valid"]?.looseBool ?? !outcome.isFailure
        refusal = outcome.isFailure ? outcome : nil
        appID = data["app_id"]?.codeText?.bounded(to: 64)
        type = data["type"]?.string?.nonEmpty?.bounded(to: 64)
        userID = data["user_id"]?.codeText?.bounded(to: 64)
        expiresAt = Timestamp(facebook: data["expires_at"])
        dataAccessExpiresAt = Timestamp(facebook: data["data_access_expires_at"])
        issuedAt = Timestamp(facebook: data["issued_at"])
        scopes = (data["scopes"]?.array ?? []).prefix(1024).compactMap { $0.string?.bounded(to: 128) }
        granularScopes = (data["granular_scopes"]?.array ?? []).prefix(1024).compactMap { GranularScope($0) }
    }
}

extension Timestamp {
    /// A time in epoch seconds, as Facebook writes it; zero stands for none.
    init?(facebook value: JSONValue?) {
        guard let seconds = value?.lenientNumber?.seconds, seconds > .zero else { return nil }
        self.init(sinceEpoch: seconds)
    }
}
