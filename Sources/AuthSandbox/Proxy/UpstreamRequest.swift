import HTTPRecovery
import HTTPRecoveryTesting

/// A request as it goes to the upstream.
enum UpstreamRequest {
    /// The bytes of a request, or why it cannot be forwarded.
    ///
    /// The method, the path behind the upstream's prefix, the query and the body are those of the client; `Host` is the
    /// upstream's. Fields about the client's own connection stay behind (RFC 9110 section 7.6.1), and so does `Expect`:
    /// the whole body is here. The connection is for this request alone.
    ///
    /// - Parameters:
    ///   - request: What arrived.
    ///   - upstream: Where it goes.
    static func bytes(
        of request: SandboxRequest,
        to upstream: SandboxUpstream
    ) -> Result<[UInt8], UpstreamFailure> {
        guard request.method != "CONNECT" else {
            return .failure(UpstreamFailure(.notForwarded, status: 501, "tunnels (CONNECT) are not made here"))
        }
        var target = request.path
        if target.hasPrefix("/") || target.isEmpty {
            target = upstream.prefix + target
            if target.isEmpty { target = "/" }
        } else if target != "*" {
            return .failure(UpstreamFailure(.notForwarded, status: 400, "the request's target is not a path"))
        }
        if let query = request.rawQuery { target += "?" + query }
        var head = "\(request.method) \(SandboxResponse.clean(target)) HTTP/1.1\r\nhost: \(upstream.host)\r\n"
        let left = hopByHop(request.headers).union(["host", "expect", "content-length"])
        for header in request.headers where !left.contains(header.name) {
            head += "\(header.name): \(SandboxResponse.clean(header.value))\r\n"
        }
        let statesBody = request.header("content-length") != nil || request.header("transfer-encoding") != nil
        if statesBody || !request.body.isEmpty { head += "content-length: \(request.body.count)\r\n" }
        head += "connection: close\r\n\r\n"
        return .success(Array(head.utf8) + request.body)
    }
}

extension UpstreamRequest {
    /// The fields that are about one connection only (RFC 9110 section 7.6.1): those that `Connection` names, and those
    /// that are known to be.
    ///
    /// - Parameter headers: All fields of the message.
    /// - Returns: Names in lower case.
    static func hopByHop(_ headers: [HeaderLine]) -> Set<String> {
        var names: Set<String> = [
            "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te",
            "trailer", "transfer-encoding", "upgrade",
        ]
        for header in headers where header.name.lowercased() == "connection" {
            names.formUnion(header.value.split(separator: ",").map { HeaderLine.trimmed($0).lowercased() })
        }
        return names
    }
}

/// Why there is no answer of the upstream's, as the client is told.
struct UpstreamFailure: Error, Sendable, Equatable {
    /// The word in the JSON body.
    enum Code: String, Sendable {
        /// No connection could be made: nothing was sent.
        case unreachable = "upstream_unreachable"
        /// The connection ended before the answer did.
        case closed = "upstream_closed"
        /// What came is not HTTP/1.1, or contradicts itself.
        case invalid = "upstream_invalid"
        /// The head or the body is longer than is taken.
        case tooLong = "upstream_too_long"
        /// The answer was not there in time.
        case timeout = "upstream_timeout"
        /// The request is of a kind that is not forwarded.
        case notForwarded = "not_forwarded"
    }

    var code: Code
    var status: Int
    /// A sentence for the person who looks for the reason.
    var message: String

    init(_ code: Code, status: Int = 502, _ message: String) {
        self.code = code
        self.status = status
        self.message = message
    }

    var response: SandboxResponse {
        let body: JSONValue = [
            "error": .string(code.rawValue),
            "error_description": .string("auth-sandbox has no answer of the upstream: \(message)"),
        ]
        return .json(body, status: status)
    }
}

/// What has become of a request to the upstream.
struct UpstreamOutcome: Sendable {
    var result: Result<SandboxResponse, UpstreamFailure>
    /// Whether the whole request went out, or an answer came: it may have had its effect.
    var wasSent: Bool
}
