import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes

/// What a transport must not do.
enum Offence: String, Sendable {
    case resends, resendsRefusals, claimsNeverSent, claimsNotProcessed, claimsAnswered, followsRedirects
    case dropsRepeatedFields, dropsRepeatedRequestFields, mergesFields, addsAField, readsAhead, uploadsFromMemory
    case swallowsCancellation, renamesCancellation, goesOnAfterCancellation, keepsDroppedBodies, keepsCookies
    case keepsAnswers, answersChallenges, hidesBrokenBodies, ignoresShutdown, boastsOfTimeouts, sendsTwice
    case claimsAfterAnAnswer

    /// Whether only the kit's patience finds it.
    var hangs: Bool {
        switch self {
        case .readsAhead, .uploadsFromMemory, .swallowsCancellation, .goesOnAfterCancellation, .keepsDroppedBodies: true
        default: false
        }
    }
}

/// A good transport behind one fault.
final class BadTransport: HTTPTransport {
    private let transport: InProcessTransport
    private let offence: Offence
    private let cookies = Locked<[String]>([])
    private let answers = Locked<[String: TransportResponse]>([:])
    private let kept = Locked<[MessageBody]>([])

    init(transport: InProcessTransport, offence: Offence) {
        (self.transport, self.offence) = (transport, offence)
    }

    var name: String { offence.rawValue }
    var keepsSendLimits: Bool { true }
    var enforcesTimeouts: Bool { offence == .boastsOfTimeouts }

    func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse {
        switch offence {
        case .swallowsCancellation, .goesOnAfterCancellation:
            // A task of its own, which nobody cancels.
            let task = Task { [transport] in try await transport.send(request, body: body, options: options) }
            if offence == .swallowsCancellation { return try await task.value }
            let flight = Flight<TransportResponse>()
            Task { flight.land(await task.result) }
            return try await flight.value
        case .renamesCancellation:
            do {
                let response = try await transport.send(request, body: body, options: options)
                return TransportResponse(head: response.head, body: MessageBody(once: Renaming(body: response.body)))
            } catch is CancellationError {
                throw TransportError(.other, .unknown)
            }
        default: return try await altered(request, body, options)
        }
    }

    private func altered(
        _ request: HTTPRequest,
        _ body: MessageBody?,
        _ options: AttemptOptions
    ) async throws -> TransportResponse {
        var request = request
        var body = body
        let key = "\(request.method) \(request.path ?? "")"
        switch offence {
        case .addsAField: request.headerFields[.cacheControl] = "no-cache"
        case .dropsRepeatedRequestFields: request.headerFields = Self.unique(request.headerFields)
        case .keepsCookies: request.headerFields[.cookie] = cookies.withLock { $0.last }
        case .keepsAnswers:
            if let known = answers.withLock({ $0[key] }) { return known }
        case .uploadsFromMemory:
            if let upload = body { body = MessageBody(try await upload.collect(upTo: .max)) }
        case .hidesBrokenBodies: body = MessageBody((try? await body?.collect(upTo: 1 << 30)) ?? [])
        default: break
        }
        var response: TransportResponse
        do {
            response = try await transport.send(request, body: body, options: options)
            if offence == .resends { response.body = MessageBody(try await response.body.collect(upTo: 1 << 30)) }
        } catch let error as TransportError {
            switch offence {
            case .resends: response = try await transport.send(request, body: body, options: options)
            case .claimsNeverSent: throw TransportError(error.code, .neverSent)
            case .claimsNotProcessed: throw TransportError(error.code, .notProcessed)
            case .claimsAnswered: throw TransportError(error.code, .answered)
            case .ignoresShutdown where error.code == .shutDown:
                throw TransportError(.connectionLost, .unknown)
            default: throw error
            }
        }
        let status = response.head.status.code
        switch offence {
        case .resendsRefusals where status == 503 || status == 429:
            response = try await transport.send(request, body: body, options: options)
        case .sendsTwice: response = try await transport.send(request, body: body, options: options)
        case .claimsAfterAnAnswer: throw TransportError(.invalidRequest, .neverSent)
        case .followsRedirects where (300...399).contains(status):
            request.path = response.head.headerFields[.location]
            response = try await transport.send(request, body: body, options: options)
        case .answersChallenges where status == 401:
            request.headerFields[.authorization] = "Basic dTpw"
            response = try await transport.send(request, body: body, options: options)
        case .dropsRepeatedFields: response.head.headerFields = Self.unique(response.head.headerFields)
        case .mergesFields:
            let cookies = response.head.headerFields[values: .setCookie]
            if !cookies.isEmpty { response.head.headerFields[values: .setCookie] = [cookies.joined(separator: ", ")] }
        case .readsAhead: response.body = MessageBody(try await response.body.collect(upTo: 1 << 30))
        case .keepsDroppedBodies: kept.withLock { [body = response.body] in $0.append(body) }
        case .keepsCookies: cookies.withLock { $0 += response.head.headerFields[values: .setCookie] }
        case .keepsAnswers: answers.withLock { [response] in $0[key] = response }
        default: break
        }
        return response
    }

    private static func unique(_ fields: HTTPFields) -> HTTPFields {
        var unique = HTTPFields()
        for field in fields { unique[field.name] = field.value }
        return unique
    }

    func shutdown() async {
        if offence != .ignoresShutdown { await transport.shutdown() }
    }
}

/// A body whose cancellation has another name.
private struct Renaming: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        var pieces: MessageBody.AsyncIterator

        mutating func next() async throws -> ArraySlice<UInt8>? {
            do {
                return try await pieces.next(isolation: #isolation)
            } catch is CancellationError {
                throw TransportError(.connectionLost, .answered)
            }
        }
    }

    let body: MessageBody

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: body.makeAsyncIterator()) }
}
