import AuthSandbox

/// What a sandbox was asked for tokens, however much it has forgotten since.
struct TokenRequests {
    private let sandbox: AuthSandbox
    private var records: [Int: SandboxRequestRecord] = [:]

    init(_ sandbox: AuthSandbox) {
        self.sandbox = sandbox
    }

    /// Takes note of what has come.
    mutating func look() {
        for record in sandbox.requests(path: "/oauth/token") { records[record.number] = record }
    }

    /// All that arrived.
    var sent: Int { records.count }
    /// How many were answered with a token that arrived.
    var arrived: Int { records.values.count { $0.isProcessed && $0.status == 200 && !isLost($0) } }

    private func isLost(_ record: SandboxRequestRecord) -> Bool {
        record.fault == SandboxFault.Kind.truncate.name || record.fault == SandboxFault.Kind.resetAfter.name
    }
}
