public import HTTPTypes

/// Follows redirects, within bounds and without carrying secrets to another origin.
///
/// It stands outside ``Recovery``, so that each hop is recovered by itself. A hop is no call of its own: the engine
/// charges it to the retry budget, which gets the charge back when the call ends well.
///
/// - 303, and 301 or 302 after a POST, become a GET without the body, as browsers do it.
/// - Every other method is kept, and with it the body, which must be replayable.
/// - At another origin the credentials and every field that looks like one are left out, and so are the call's own
///   attempt layers, unless they say that they follow. A body is never sent to another origin: nobody knows what is in it.
/// - `https` is never left for `http`.
/// - A `Retry-After` of the redirect is waited out before the hop, within the engine's bounds. It holds this call
///   alone: what a server says about another's URL is nothing that the other has said.
public struct Redirects: ClientLayer {
    /// The most redirects that a call follows.
    public var limit: Int

    /// Creates the guard.
    ///
    /// - Parameter limit: The most redirects that a call follows; at least 0. Default: 10.
    public init(limit: Int = 10) {
        self.limit = max(0, limit)
    }

    /// Whether the response is a redirect that is followed or refused, rather than handed out.
    public static func isRedirect(_ response: RecoveredResponse) -> Bool { isRedirect(response.head) }

    private static func isRedirect(_ head: HTTPResponse) -> Bool {
        switch head.status.code {
        case 301, 302, 303, 307, 308: head.headerFields.contains(.location)
        default: false
        }
    }

    /// A request for the URL that an answer redirects to (RFC 3986 section 5.2); nil if it is no redirect, or leads to no http
    /// or https URL.
    ///
    /// - Parameters:
    ///   - head: The answer.
    ///   - request: What was asked.
    public static func target(of head: HTTPResponse, from request: HTTPRequest) -> HTTPRequest? {
        guard isRedirect(head), let location = head.headerFields[values: .location].first else { return nil }
        return URLReference(location).resolved(against: request)
    }

    /// Sends the request, and follows where it is redirected.
    public func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var hop = RedirectHop(request: request, body: body, context: context)
        var count = 0
        while true {
            var response = try await next(hop.request, body: hop.body, context: hop.context)
            response.origin = hop.origin
            guard Self.isRedirect(response), !response.outcome.isFailure, context.options.followsRedirects else {
                if !response.outcome.isFailure { context.record.settle() }
                return response
            }
            count += 1
            if let obstacle = count > limit ? .tooManyRedirects : hop.follow(response) {
                throw RecoveryError(
                    outcome: Self.outcome(of: response),
                    reason: obstacle,
                    response: response,
                    history: context.record.history
                )
            }
        }
    }

    /// What a redirect comes to that is not followed.
    fileprivate static func outcome(of response: RecoveredResponse) -> Outcome {
        Outcome(.misconfigured, processed: .yes, remedies: [.fixRequest], status: response.status.code)
    }
}

/// The request that goes out next.
private struct RedirectHop {
    var request: HTTPRequest
    var body: MessageBody?
    var context: CallContext
    /// Where the request goes, if that is not the origin that was asked.
    private(set) var origin: Origin?

    init(request: HTTPRequest, body: MessageBody?, context: CallContext) {
        self.request = request
        self.body = body
        self.context = context
    }

    /// Turns the request into the one that the redirect asks for; returns why that must not be, if so.
    mutating func follow(_ response: RecoveredResponse) -> History.StopReason? {
        guard let target = Redirects.target(of: response.head, from: request) else { return .redirectInvalid }
        let from = Origin(of: request)
        let to = Origin(of: target)
        if from.scheme == "https", to.scheme != "https" { return .redirectRefused }

        let code = response.status.code
        if (code == 303 && request.method != .head) || (code <= 302 && request.method == .post) {
            request.method = .get
            dropBody()
        }
        if let body {
            if from != to { return .redirectRefused }
            if !body.canBeRead { return .bodyNotReplayable }
        }
        if from != to {
            leaveOrigin()
            origin = to
        }
        request.scheme = target.scheme
        request.authority = target.authority
        request.path = target.path
        var cause = Redirects.outcome(of: response)
        cause.retryAfter = ServerDelay(response.head, receivedAt: context.runtime.time.wallTime).delay
        context.followUp = cause
        return nil
    }

    private mutating func dropBody() {
        body = nil
        let isAboutBody = { (name: HTTPField.Name) in name.canonicalName.hasPrefix("content-") }
        request.headerFields = request.headerFields.filtered { !isAboutBody($0.name) && $0.name != .transferEncoding }
    }

    private mutating func leaveOrigin() {
        request.headerFields = request.headerFields.filtered { !CredentialFields.looksLikeCredential($0) }
        if !context.options.attemptLayers.isEmpty {
            context.options.attemptLayers = context.options.attemptLayers.filter(\.followsToOtherOrigins)
        }
        context.options.credentialID = nil
        context.options.account = nil
        context.options.presents = nil
        context.present(nil)
    }
}

extension HTTPFields {
    fileprivate func filtered(_ isKept: (HTTPField) -> Bool) -> HTTPFields {
        var fields = HTTPFields()
        for field in self where isKept(field) { fields.append(field) }
        return fields
    }
}

/// Which header fields may carry a credential.
enum CredentialFields {
    static func looksLikeCredential(_ field: HTTPField) -> Bool {
        let name = field.name.canonicalName
        if words.contains(where: { name.holds($0) }) { return true }
        let start = String(decoding: field.value.utf8.prefix(7), as: UTF8.self).lowercased().utf8
        return ["bearer ", "basic ", "eyj"].contains { start.starts(with: $0.utf8) }
    }

    /// Parts of the names, in lower case; rather one too many, since a dropped field is at worst a missing comfort.
    private static let words = [
        "auth", "cookie", "token", "secret", "key", "session", "credential", "pass", "pwd", "signature", "dpop", "csrf",
        "xsrf", "jwt", "assertion", "ticket", "otp", "sso", "saml", "openam", "iplanetdirectory", "referer", "origin",
        "host", "forwarded",
    ]
}
