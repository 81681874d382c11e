import HTTPRecovery
import HTTPRecoveryTesting

/// Tokens that the fault `rotate_token` has handed out, each in the place of one that the upstream knows.
struct UpstreamTokens: Sendable {
    private static let capacity = 1000

    /// The upstream's token of each that was handed out.
    private var originals: [String: String] = [:]
    /// Those that were handed out, oldest first.
    private var order: [String] = []

    /// Puts the upstream's own token in the place of one that was handed out.
    func restore(_ headers: inout [SandboxRequest.Header]) {
        for index in headers.indices where headers[index].name == "authorization" {
            let (scheme, token) = Self.parts(headers[index].value)
            if let original = originals[token] { headers[index].value = scheme + original }
        }
    }

    /// Hands out a new token with an answer: for the one that it carries, or else for the one that the request carried.
    ///
    /// An answer to a request without any token stays as it is.
    mutating func rotate(
        _ response: inout SandboxResponse,
        for request: SandboxRequest,
        random: inout SplitMix64
    ) {
        let (scheme, shown) = Self.parts(response.header("Authorization") ?? request.header("authorization") ?? "")
        guard !shown.isEmpty else { return }
        let original = originals[shown] ?? shown
        // A JWT keeps its claims, so that a client that reads them goes on to do so.
        var parts = original.split(separator: ".", omittingEmptySubsequences: false)
        let fresh = random.letters(43)
        if parts.count == 3 { parts[2] = fresh[...] } else { parts = [fresh[...]] }
        let token = parts.joined(separator: ".")
        if order.count >= Self.capacity { originals[order.removeFirst()] = nil }
        originals[token] = original
        order.append(token)
        response.setHeader("Authorization", scheme + token)
    }

    /// The scheme with its blank, if there is one, and the token.
    private static func parts(_ value: String) -> (scheme: String, token: String) {
        guard let blank = value.lastIndex(of: " ") else { return ("", value) }
        return (String(value[...blank]), String(value[value.index(after: blank)...]))
    }
}
