#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPRecovery
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPCompression
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Turns the error and the facts of an ended transfer into the transport's error.
///
/// The certainty comes from what passed through the pipeline and not from the client's error: the same event has
/// different errors in different runs.
enum Verdict {
    static func error(for error: any Error, facts: TransferFacts) -> TransportError {
        if facts.isRefused, !facts.sawStatus {
            return TransportError(.streamRefused, .notProcessed, message: "the server refused the HTTP/2 stream")
        }
        let word = word(for: error, facts)
        // The directory behind a proxy may lock an account whose password is tried again.
        let isTransient = (error as? HTTPClientError) == .proxyAuthenticationRequired ? false : nil
        return TransportError(word.code, certainty(facts), message: word.message, isTransient: isTransient)
    }

    static func certainty(_ facts: TransferFacts) -> TransportError.Certainty {
        if facts.sawStatus { return .answered }
        if facts.isRefused { return .notProcessed }
        return facts.wireAttempts == 0 ? .neverSent : .unknown
    }

    private typealias Word = (code: TransportError.Code, message: String)

    private static func word(for error: any Error, _ facts: TransferFacts) -> Word {
        switch error {
        case let error as TransportError: (error.code, error.message)
        case let error as HTTPClientError: word(for: error, facts)
        case let error as NIOConnectionError: word(for: error, facts)
        case let error as ChannelError: word(for: error, facts)
        case let error as IOError: word(forErrno: error.errnoCode, facts)
        case let error as NIOSSLError: word(for: error, facts)
        // No handshake's, but that of reading the files.
        case BoringSSLError.unknownError where facts.wireAttempts == 0:
            (.misconfigured, "a certificate file holds no certificate")
        case let error as BoringSSLError: tls(String(describing: error), facts)
        case let error as NIOSSLExtraError:
            if error == .failedToValidateHostname {
                (.certificateRejected, "the server's certificate is for another name")
            } else {
                tls(String(describing: error), facts)
            }
        case let error as HTTPParserError: word(for: error, facts)
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            (.badContentEncoding, "the response body's content coding is broken")
        case is any NIOHTTP2Error: lost(facts, "the HTTP/2 connection or stream was closed")
        case is SocketAddressError, is SocketAddressError.UnknownHost:
            (.cannotResolve, "the host's name has no address")
        default:
            // The type alone: a description may hold what was sent.
            facts.wireAttempts == 0
                ? (.cannotConnect, "no connection could be made: \(type(of: error))")
                : (.other, "the transfer failed: \(type(of: error))")
        }
    }

    private static func word(for error: HTTPClientError, _ facts: TransferFacts) -> Word {
        switch error {
        case .alreadyShutdown: (.shutDown, "the transport has been shut down")
        case .deadlineExceeded: (.timedOut, "the attempt's time ran out")
        case .connectTimeout, .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            (.timedOut, "the connection could not be made in time")
        case .getConnectionFromPoolTimeout: (.timedOut, "no connection was free in time")
        case .readTimeout, .writeTimeout: (.timedOut, "the connection stood still")
        case .remoteConnectionClosed, .cancelled, .requestStreamCancelled, .uncleanShutdown:
            lost(facts, "the connection was closed")
        case .bodyLengthMismatch: (.requestBodyFailed, Self.bodyFailed)
        case .invalidProxyResponse, .proxyAuthenticationRequired:
            (.cannotConnect, "the proxy refused the tunnel: \(error.shortDescription)")
        case .invalidProxyConfiguration, .invalidLocalAddress: (.misconfigured, error.shortDescription)
        case .invalidURL, .emptyHost, .emptyScheme, .traceRequestWithBody:
            (.invalidRequest, error.shortDescription)
        default:
            facts.wireAttempts == 0
                ? (.cannotConnect, error.shortDescription) : (.other, error.shortDescription)
        }
    }

    private static func word(for error: NIOConnectionError, _ facts: TransferFacts) -> Word {
        let failures = error.connectionErrors.map(\.error)
        if let own = failures.first(where: { $0 is NIOSSLError || $0 is BoringSSLError }) {
            return word(for: own, facts)
        }
        guard !failures.isEmpty else {
            if error.dnsAError != nil || error.dnsAAAAError != nil {
                return (.cannotResolve, "the host's name has no address")
            }
            return (.cannotConnect, "no connection could be made")
        }
        let codes = failures.compactMap { ($0 as? IOError)?.errnoCode }
        if codes.contains(where: isExhaustion) { return (.outOfResources, Self.exhausted) }
        let isLate = failures.contains { failure in
            if case ChannelError.connectTimeout? = failure as? ChannelError { true } else { false }
        }
        return isLate
            ? (.timedOut, "the connection could not be made in time")
            : (.cannotConnect, "no connection could be made")
    }

    private static func word(for error: ChannelError, _ facts: TransferFacts) -> Word {
        if case .connectTimeout = error { return (.timedOut, "the connection could not be made in time") }
        return lost(facts, "the connection was closed")
    }

    private static func word(forErrno code: CInt, _ facts: TransferFacts) -> Word {
        if facts.wireAttempts == 0, isExhaustion(code) { return (.outOfResources, Self.exhausted) }
        return lost(facts, "the connection was lost (errno \(code))")
    }

    private static func word(for error: NIOSSLError, _ facts: TransferFacts) -> Word {
        switch error {
        case .handshakeFailed(let reason): tls(String(describing: reason), facts)
        case .unableToValidateCertificate, .noCertificateToValidate:
            (.certificateRejected, "the server's certificate is not trusted")
        case .noSuchFilesystemObject, .failedToLoadCertificate, .failedToLoadPrivateKey:
            (.misconfigured, "a certificate file cannot be read")
        case .uncleanShutdown: lost(facts, "the connection ended without TLS's goodbye")
        default: facts.wireAttempts == 0 ? (.tlsFailed, "TLS failed") : lost(facts, "TLS failed")
        }
    }

    /// What BoringSSL says is found by its word for a certificate that was not accepted.
    private static func tls(_ text: String, _ facts: TransferFacts) -> Word {
        if facts.wireAttempts > 0 { return lost(facts, "TLS failed") }
        return text.holds("CERTIFICATE_VERIFY_FAILED")
            ? (.certificateRejected, "the server's certificate is not trusted")
            : (.tlsFailed, "the TLS handshake failed")
    }

    private static func word(for error: HTTPParserError, _ facts: TransferFacts) -> Word {
        switch error {
        case .invalidEOFState, .closedConnection:
            facts.sawStatus
                ? (.truncated, "the connection ended before the response did")
                : lost(facts, "the connection was closed")
        case .headerOverflow: (.headersTooLarge, "the response's header section is larger than the client accepts")
        default:
            facts.sawHead
                ? lost(facts, "the response's body is not framed as HTTP")
                : (.notHTTP, "the answer is not HTTP")
        }
    }

    private static func lost(_ facts: TransferFacts, _ message: String) -> Word {
        // Before the request these are a proxy that refuses the tunnel or a connection that died at once.
        guard facts.wireAttempts > 0 else { return (.cannotConnect, message) }
        return (.connectionLost, facts.isVetoed ? "the connection was lost; the resend was prevented" : message)
    }

    private static func isExhaustion(_ code: CInt) -> Bool {
        [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(code)
    }

    private static let exhausted = "the machine has no descriptor or memory left"
    static let bodyFailed = "the request's body failed or did not have its announced length"
}
#endif
