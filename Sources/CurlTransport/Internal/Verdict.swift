import CCurl
import HTTPRecovery

/// Turns the facts of an ended transfer into an error, or into none.
///
/// The certainty comes from what was seen on the wire and not from libcurl's code: the same event has different codes
/// in different runs (a lost connection is 16, 18, 52, 55, 56 or 92).
enum Verdict {
    static func error(for facts: TransferFacts) -> TransportError? {
        if facts.code == 0, facts.ownReason == nil {
            // A FIN within the header section is no failure to libcurl; the empty line tells.
            if facts.sawHead {
                guard facts.isEndUnannounced else { return nil }
                return TransportError(
                    .truncated,
                    .answered,
                    message: "the connection was cut without an announced end, and the body has no stated length"
                )
            }
            let code: TransportError.Code = facts.sawStatus ? .truncated : .connectionLost
            return TransportError(
                code,
                certainty(facts),
                message: "the connection ended before the response's header section did"
            )
        }
        if facts.isRefused, !facts.sawStatus {
            return TransportError(.streamRefused, .notProcessed, message: "the server refused the HTTP/2 stream")
        }
        let (code, isTransient) = word(for: facts)
        return TransportError(code, certainty(facts), message: message(for: facts), isTransient: isTransient)
    }

    static func certainty(_ facts: TransferFacts) -> TransportError.Certainty {
        if facts.sawStatus { return .answered }
        if facts.isRefused { return .notProcessed }
        return facts.wireAttempts == 0 ? .neverSent : .unknown
    }

    private static func word(for facts: TransferFacts) -> (TransportError.Code, isTransient: Bool?) {
        switch facts.ownReason {
        case .headersTooLarge: return (.headersTooLarge, nil)
        case .noResponse: return (.notHTTP, nil)
        case .requestBodyFailed: return (.requestBodyFailed, nil)
        case .sendLimitPassed: return (.sendLimitPassed, nil)
        case .expandsTooFar: return (.bodyTooLarge, nil)
        case .endlessProxyAnswer: return cannotConnect(facts)
        case nil: break
        }
        let wasSent = facts.wireAttempts > 0
        // With TLS 1.3 the server looks at the client's certificate after the handshake, when the request is out.
        if !facts.sawStatus, isAlertAboutCertificate(facts) { return (.tlsFailed, false) }
        // A used connection was lost with the request, and libcurl did not get as far as to be kept from a resend.
        if wasSent, !facts.sawStatus, [5, 6, 7, 35, 97].contains(facts.code) { return (.connectionLost, nil) }
        // Of trailers libcurl bounds a line at 4 KiB.
        if facts.hasLongTrailer { return (.headersTooLarge, nil) }
        switch facts.code {
        case 1: return wasSent ? (.notHTTP, nil) : (.invalidRequest, nil)
        case 3: return (.invalidRequest, nil)
        case 5, 6: return (.cannotResolve, nil)
        case 7, 97: return cannotConnect(facts)
        case 8: return (.notHTTP, nil)
        case 18: return (facts.sawStatus ? .truncated : .connectionLost, nil)
        case 26: return (.requestBodyFailed, nil)
        case 27, 100:
            // libcurl bounds a single header line itself and calls that "out of memory".
            return wasSent && !facts.sawHead ? (.headersTooLarge, nil) : (.outOfResources, nil)
        case 28: return (.timedOut, nil)
        case 35: return (.tlsFailed, nil)
        // A first header line that begins with a blank, to which libcurl finds none to join it.
        case 43 where wasSent: return (.notHTTP, nil)
        case 4, 41, 43, 48, 53, 54, 58, 59, 66, 77, 82: return (.misconfigured, nil)
        // From version 8.3 on, which bounds header sections at 300 KiB; trailers count among them.
        case 56 where facts.detail.hasPrefix("Too large response headers"): return (.headersTooLarge, nil)
        case 42 where facts.isVetoed: return (.connectionLost, nil)
        case 51, 60, 83, 90, 91: return (.certificateRejected, nil)
        // What stands behind the end of what was compressed libcurl calls a failed write.
        case 61 where facts.hasTransferCoding: return (.notHTTP, nil)
        case 23 where facts.sawHead, 61: return (.badContentEncoding, nil)
        case 16, 52, 55, 56, 65, 92, 95:
            // Before the request these are a proxy that refuses the tunnel or a connection that died at once.
            return wasSent ? (.connectionLost, nil) : cannotConnect(facts)
        case 81, 89, 99: return (.outOfResources, nil)
        default: return (.other, nil)
        }
    }

    private static let foreignCoding = "the response's body has a transfer coding that nobody asked for"

    /// A password that a proxy has refused is not tried again: the directory behind it may lock the account.
    private static func cannotConnect(_ facts: TransferFacts) -> (TransportError.Code, isTransient: Bool?) {
        (.cannotConnect, facts.isRefusedByProxy ? false : nil)
    }

    /// Whether the server's last word was that it wants another certificate of the client, or one at all.
    private static func isAlertAboutCertificate(_ facts: TransferFacts) -> Bool {
        guard [16, 35, 55, 56].contains(facts.code), let alert = facts.detail.utf8.range(of: " alert ".utf8) else {
            return false
        }
        let words = facts.detail.utf8[alert.upperBound...]
        return words.range(of: "certificate".utf8) != nil || words.starts(with: "unknown ca".utf8)
    }

    /// libcurl's sentence for the code, and its details if they cannot hold a secret.
    private static func message(for facts: TransferFacts) -> String {
        switch facts.ownReason {
        case .headersTooLarge: return "the response's header section is larger than the transport accepts"
        case .noResponse(.length): return "the response's Content-Length is no length, or several"
        case .noResponse(.transferCoding): return foreignCoding
        case .noResponse(.switchedProtocol): return "the server has switched to a protocol that nobody asked for"
        case .requestBodyFailed: return "the request's body failed or did not have its announced length"
        case .sendLimitPassed: return TransportError.tooLate.message
        case .expandsTooFar(let limit):
            return "the response's body expands to more than \(limit) bytes when it is decompressed"
        case .endlessProxyAnswer: return "the proxy refused the tunnel with an answer that does not end"
        case nil: break
        }
        if facts.code == 28, facts.detail.isEmpty {
            if facts.sawStatus { return "the time ran out before the whole answer had come" }
            return "the time ran out before " + (facts.wireAttempts > 0 ? "an answer came" : "there was a connection")
        }
        if facts.isVetoed { return "the connection was lost before an answer came; the resend was prevented" }
        switch word(for: facts).0 {
        case .headersTooLarge: return "the response's header section is larger than libcurl accepts"
        case .connectionLost where facts.code == 18 && facts.detail.isEmpty:
            return "the server closed the connection before an answer came"
        case .truncated where facts.code == 18 && facts.detail.isEmpty:
            return "the server closed the connection before the whole answer had come"
        case .notHTTP where facts.hasTransferCoding: return foreignCoding
        case .notHTTP where facts.code == 43: return "the response's first header line begins with a blank"
        case .badContentEncoding where facts.code == 23: return "something stands behind the response's compressed body"
        default: break
        }
        let code = CURLcode(rawValue: UInt32(truncatingIfNeeded: facts.code))
        let general = unsafe String(cString: curl_easy_strerror(code))
        let hasSafeDetail: Set = [6, 7, 16, 18, 28, 35, 52, 55, 56, 60, 92]
        guard hasSafeDetail.contains(facts.code), !facts.detail.isEmpty else { return general }
        return facts.detail
    }
}
