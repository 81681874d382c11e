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
        expiresAt = Self.time(data["expires_at"])
        dataAccessExpiresAt = Self.time(data["data_access_expires_at"])
        issuedAt = Self.time(data["issued_at"])
        scopes = (data["scopes"]?.array ?? []).prefix(1024).compactMap { $0.string?.bounded(to: 128) }
    }

    /// A time in epoch seconds; zero stands for never.
    private static func time(_ value: JSONValue?) -> Timestamp? {
        guard let seconds = value?.lenientNumber?.seconds, seconds > .zero else { return nil }
        return Timestamp(sinceEpoch: seconds)
    }
}
