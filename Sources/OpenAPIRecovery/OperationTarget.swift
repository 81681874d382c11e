#if OpenAPI
import HTTPRecovery
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where an operation's request goes: the base URL with the request's path behind its own, as the transports of the
/// generator's project join them.
struct OperationTarget: Sendable {
    /// The request with scheme, authority and the whole path.
    let request: HTTPRequest
    private let original: HTTPRequest
    private let baseURL: URL
    private let basePath: String

    /// - Throws: `RecoveryError` of the kind `misconfigured` for a base URL that is none of http or https.
    init(_ request: HTTPRequest, baseURL: URL) throws {
        let text = String(baseURL.absoluteString.prefix { $0 != "?" && $0 != "#" })
        let base: HTTPRequest
        do {
            base = try HTTPRequest(url: text)
        } catch {
            var outcome = Outcome(.misconfigured, processed: .no, remedies: [.fixRequest])
            outcome.message = error.description
            throw RecoveryError(outcome: outcome, reason: .notRecoverable, cause: error)
        }
        let path = base.path ?? ""
        basePath = path == "/" && !text.hasSuffix("/") ? "" : path
        let whole = basePath + (request.path ?? "")
        var joined = request
        joined.scheme = base.scheme
        joined.authority = base.authority
        joined.path = whole.isEmpty ? "/" : whole
        self.request = joined
        self.original = request
        self.baseURL = baseURL
    }

    /// An attempt's request as an inner transport wants it: a path, and the base URL that it stands behind.
    ///
    /// - Throws: `TransportError` if a layer has made it one that has no URL.
    func split(_ attempt: HTTPRequest) throws -> (request: HTTPRequest, baseURL: URL) {
        var inner = attempt
        inner.scheme = original.scheme
        inner.authority = original.authority
        let path = attempt.path ?? "/"
        let isAtBase = attempt.scheme == request.scheme && attempt.authority == request.authority
        if isAtBase, path == request.path {
            inner.path = original.path
            return (inner, baseURL)
        }
        if isAtBase, path.hasPrefix(basePath), path.dropFirst(basePath.count).hasPrefix("/") {
            inner.path = String(path.dropFirst(basePath.count))
            return (inner, baseURL)
        }
        guard let scheme = attempt.scheme, let authority = attempt.authority,
            let origin = URL(string: "\(scheme)://\(authority)")
        else {
            throw TransportError(.invalidRequest, .neverSent, message: "the request has no scheme or no authority")
        }
        return (inner, origin)
    }
}
#endif
