import Foundation
import HTTPRecovery
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// The most of a streamed body that is read into memory before it is sent: 64 MiB.
    static let largestBody = 1 << 26

    /// Writes a request in Foundation's form, with its body in memory.
    ///
    /// - Throws: `TransportError`: `invalidRequest` for what cannot be sent, `requestBodyFailed` for a body that breaks off
    ///   or is too large; `CancellationError`.
    init(_ request: HTTPRequest, body: MessageBody?) async throws {
        guard let scheme = request.scheme, ["http", "https"].contains(scheme) else {
            throw TransportError.invalid("the scheme is neither http nor https")
        }
        // A URL of Foundation's would decode what is percent-encoded in a host.
        guard let authority = request.authority,
            (try? HTTPRequest(url: "\(scheme)://\(authority)/"))?.authority == authority
        else { throw TransportError.invalid("the request's authority is missing, or no host and port") }
        let target = request.path.flatMap { $0.isEmpty ? nil : $0 } ?? "/"
        guard target.utf8.first == UInt8(ascii: "/"),
            let url = URL(string: "\(scheme)://\(authority)\(target)", encodingInvalidCharacters: false)
        else { throw TransportError.invalid("the authority or the path holds an illegal character") }
        self.init(url: url)
        httpMethod = request.method.rawValue
        // The authority is the host, and the body knows its framing.
        for field in request.headerFields where !Self.setByItself.contains(field.name) {
            addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        // All in one field (RFC 6265 section 5.4), where the session would part them by commas.
        if let cookies = request.headerFields[.cookie] { setValue(cookies, forHTTPHeaderField: "Cookie") }
        let expectsBody = [.post, .put, .patch].contains(request.method)
        guard let bytes = try await Self.bytes(of: body), expectsBody || !bytes.isEmpty else { return }
        httpBody = Data(bytes)
    }

    private static let setByItself: Set<HTTPField.Name?> = [HTTPField.Name("host"), .contentLength, .transferEncoding]

    private static func bytes(of body: MessageBody?) async throws -> [UInt8]? {
        do {
            guard let body else { return nil }
            let bytes = try await body.collect(upTo: largestBody)
            guard body.length == nil || body.length == bytes.count else {
                throw TransportError.bodyFailed("the request's body did not have its announced length")
            }
            return bytes
        } catch let error as TransportError {
            throw error
        } catch let error as CancellationError where Task.isCancelled {
            throw error
        } catch {
            throw TransportError.bodyFailed("the request's body failed, or is larger than is kept in memory")
        }
    }
}

extension HTTPResponse {
    /// Reads a response in Foundation's form, in which fields of the same name are one, in no order.
    init(_ response: HTTPURLResponse) {
        self.init(status: Status(code: response.statusCode))
        for (name, value) in response.allHeaderFields {
            guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else {
                continue
            }
            headerFields.append(HTTPField(name: name, value: value))
        }
    }
}

extension TransportError {
    fileprivate static func invalid(_ message: String) -> TransportError {
        TransportError(.invalidRequest, .neverSent, message: message)
    }

    fileprivate static func bodyFailed(_ message: String) -> TransportError {
        TransportError(.requestBodyFailed, .neverSent, message: message)
    }

    /// Says of an error what is known, and no more.
    ///
    /// - Parameters:
    ///   - error: What the session says.
    ///   - sawHead: Whether the response has begun, which proves that the request was processed.
    ///   - isAlone: Whether the connection was made for this attempt. On one that was used before, an error of connecting
    ///     may belong to the session's second try, and proves nothing.
    init(_ error: any Error, sawHead: Bool, isAlone: Bool) {
        let word = (error as? URLError)?.code
        let (code, isBefore): (Code, Bool) =
            switch word {
            case .cannotFindHost?, .dnsLookupFailed?: (.cannotResolve, true)
            case .cannotConnectToHost?, .notConnectedToInternet?: (.cannotConnect, true)
            case .secureConnectionFailed?: (.tlsFailed, true)
            case .serverCertificateUntrusted?, .serverCertificateHasBadDate?, .serverCertificateNotYetValid?,
                .serverCertificateHasUnknownRoot?:
                (.certificateRejected, true)
            case .timedOut?: (.timedOut, false)
            case .cannotDecodeContentData?, .cannotDecodeRawData?: (.badContentEncoding, false)
            // On Linux this is what an answer is called that is not HTTP: the URL was looked at before.
            case .unsupportedURL?, .cannotParseResponse?: (.notHTTP, false)
            // On Linux most ends of a connection have no code of their own, failed handshakes among them.
            default: (.connectionLost, false)
            }
        let certainty: Certainty = sawHead ? .answered : isBefore && isAlone ? .neverSent : .unknown
        let number = word.map { " (\($0.rawValue))" } ?? ""
        self.init(code, certainty, message: "URLSession failed\(number)")
    }
}
