public import HTTPRecovery

extension Credentials {
    /// Credentials as a store holds them.
    public struct Stored: Sendable, Hashable {
        /// The credentials.
        public var credentials: Credentials
        /// What tells these credentials from those before and after them.
        public var version: UInt64

        /// Creates stored credentials.
        public init(_ credentials: Credentials, version: UInt64) {
            self.credentials = credentials
            self.version = version
        }
    }
}

/// Keeps the credentials of one identity.
///
/// All changes are compare-and-swap: whoever changes credentials says which version it has read, and if another
/// change came first it reads again. That alone makes it impossible that a late answer wipes out a fresh token.
public protocol TokenStore: Sendable {
    /// Whose credentials the store keeps, as all who share them know it, such as an account's name; nil if the store
    /// does not know. Default: nil.
    ///
    /// Limits that a server counts per credential are kept by it, hashed, so that they outlive the renewal of a token.
    var identity: String? { get }

    /// Whether a read may have to wait, such as for a disk or another machine. Default: true.
    ///
    /// A call waits for such a read until its deadline or its cancellation, and no longer, also where the store does not end it.
    /// A store around another one has what that has.
    var readsWait: Bool { get }

    /// The credentials now; empty ones if nothing is stored.
    ///
    /// - Throws: ``Credentials/StoreError`` when the store cannot be read.
    func read() async throws -> Credentials.Stored

    /// Stores credentials, if the store still holds the version.
    ///
    /// - Returns: What is stored now; nil when another change came first, and nothing was stored.
    /// - Throws: ``Credentials/StoreError`` when the store cannot be written; then it holds what it held.
    func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored?

    /// Grants the right to renew the credentials, unless somebody holds it.
    ///
    /// - Parameters:
    ///   - duration: How long it is granted.
    ///   - time: Where time comes from.
    /// - Returns: The lease; nil while another holds it.
    /// - Throws: ``Credentials/StoreError`` when the store cannot tell.
    func acquireLease(for duration: Duration, time: TimeSource) async throws -> (any Credentials.Lease)?
}

extension Credentials {
    /// Why a token store failed; it never holds a credential.
    public struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
        /// What went wrong and what to do, without a credential.
        public let description: String

        /// Creates an error.
        public init(_ description: String) {
            self.description = description
        }
    }
}

extension TokenStore {
    /// By default a store does not know whose credentials it keeps.
    public var identity: String? { nil }

    /// By default a read may have to wait.
    public var readsWait: Bool { true }

    /// Changes the credentials, reading again whenever another change comes first.
    ///
    /// - Parameter change: Applied to the credentials of the moment, perhaps several times.
    /// - Returns: What is stored now.
    @discardableResult
    public func update(_ change: @Sendable (inout Credentials) -> Void) async throws -> Credentials.Stored {
        while true {
            try Task.checkCancellation()
            let present = try await read()
            var changed = present.credentials
            change(&changed)
            if changed == present.credentials { return present }
            if let stored = try await replace(version: present.version, with: changed) { return stored }
        }
    }

    /// Stores what has arrived, whatever becomes of the caller: tokens that exist and are not kept could never be ended.
    ///
    /// - Parameter change: As that of ``update(_:)``.
    /// - Returns: What is stored now.
    @discardableResult
    public func keep(_ change: @escaping @Sendable (inout Credentials) -> Void) async throws -> Credentials.Stored {
        try await Task { try await update(change) }.value
    }

    /// Removes a credential, if it is still the one that was refused.
    ///
    /// - Parameters:
    ///   - kind: The sort of the credential.
    ///   - version: The version of the credential that was refused: ``Credentials/version(of:)``.
    /// - Returns: Whether it was removed.
    public func clear(_ kind: Outcome.CredentialKind, ifVersion version: UInt64) async throws -> Bool {
        while true {
            let present = try await read()
            guard present.credentials.version(of: kind) == version else { return false }
            var changed = present.credentials
            changed.remove(kind)
            if try await replace(version: present.version, with: changed) != nil { return true }
        }
    }

    /// The credentials as they change: those of the moment first, then those after each change by anybody.
    ///
    /// The store is read once an interval, so that changes by other processes are seen too; of several changes within
    /// one the last is seen. A read that fails ends the sequence with its error.
    ///
    /// - Parameters:
    ///   - interval: How often the store is read; at least 1 ms, default: 1 s.
    ///   - time: Where time comes from.
    public func changes(
        every interval: Duration = .seconds(1),
        time: TimeSource = .system
    ) -> AsyncThrowingStream<Credentials.Stored, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Credentials.Stored.self,
            throwing: (any Error).self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let task = Task {
            do {
                var latest: UInt64?
                while true {
                    let present = try await read()
                    if present.version != latest { continuation.yield(present) }
                    latest = present.version
                    try await time.sleep(for: max(interval, .milliseconds(1)))
                }
            } catch {
                continuation.finish(throwing: error is CancellationError ? nil : error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
