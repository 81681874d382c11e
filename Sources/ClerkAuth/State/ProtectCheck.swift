import AuthRecovery
import HTTPRecovery

/// The proofs against abuse that a sign-in or a sign-up waits for.
struct ProtectCheck: RememberedFields {
    /// How many are presented in one flow: a server that is never content is not asked for ever.
    private static let limit = 3

    private var count = 0
    /// The one that was proved last: if it stays, the proof has changed nothing.
    private var last: JSONValue?

    init() {}

    static var fields: [RememberedField<ProtectCheck>] {
        [.init("count", \.count), .init("last", \.last)]
    }

    /// What a flow waits for, whatever its status says; nil if it waits for nothing.
    static func pending(in flow: JSONValue?) -> JSONValue? {
        guard flow?["status"]?.string != "complete" else { return nil }
        if let check = flow?["protect_check"], check.members != nil, check["status"]?.string ?? "pending" == "pending" {
            return check
        }
        return flow?["status"]?.string == ClerkSignInStatus.needsProtectCheck.rawValue ? .object([]) : nil
    }

    /// Presents the proof that the program itself has for what a flow waits for.
    ///
    /// - Parameters:
    ///   - check: What it waits for.
    ///   - path: The flow's.
    /// - Returns: Nil if it has none, or the last has changed nothing.
    mutating func prove(_ check: JSONValue, of path: String, _ calls: ClerkFactorCalls) async throws -> ClerkAnswer? {
        guard count < Self.limit, check != last, let proof = try await calls.api.configuration.proofs?.proof(for: check)
        else { return nil }
        count += 1
        last = check
        return try await calls.perform(.protectCheck(of: path, proof))
    }
}
