public import AuthRecovery
public import HTTPRecovery

/// Credentials in a file that a person may have written: what cannot be understood in it is told by its key, where
/// `FileTokenStore` takes it for something that is not known, as if nobody were signed in.
public struct CheckedTokenStore: TokenStore {
    private let path: String
    private let file: FileTokenStore

    /// Creates a store on a file, which need not exist.
    public init(path: String) {
        self.path = path
        file = FileTokenStore(path: path)
    }

    /// The credentials in the file; empty ones if there is no file.
    ///
    /// - Throws: `Credentials.StoreError` that names the key whose value cannot be used.
    public func read() async throws -> Credentials.Stored {
        let stored = try await file.read()
        if let key = Self.unusableKey(of: stored.credentials) {
            throw Credentials.StoreError(
                "the token file \(path): the value of \(key) cannot be understood. Moving it away starts afresh."
            )
        }
        return stored
    }

    /// Writes credentials, if the file still holds the version.
    public func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? {
        try await file.replace(version: version, with: credentials)
    }

    /// Grants the right to renew the credentials, unless somebody holds it.
    public func acquireLease(for duration: Duration, time: TimeSource) async throws -> (any Credentials.Lease)? {
        try await file.acquireLease(for: duration, time: time)
    }

    /// The keys of the stored form.
    private static let keys: Set<String> = {
        let time = Timestamp(sinceEpoch: .zero)
        let all = Credentials(
            accessToken: Secret("a"),
            refreshToken: Secret("a"),
            expiresAt: time,
            tokenType: "a",
            clientToken: Secret("a"),
            sessionID: "a",
            ssoToken: Secret("a"),
            renewalBeganAt: time
        )
        return Set(all.json.members?.map(\.key) ?? [])
    }()

    private static func unusableKey(of credentials: Credentials) -> String? {
        // A key that is known, with a value of another type, was read as if it were not.
        if let other = credentials.others.first(where: { keys.contains($0.key) }) { return other.key }
        // What goes into a field as it stands would become two, or other words than were meant.
        let isUsable = { (member: JSONValue.Member) in
            member.value.string?.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } ?? true
        }
        return credentials.json.members?.first { keys.contains($0.key) && !isUsable($0) }?.key
    }
}
