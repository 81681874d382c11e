public import HTTPTypes

extension RecoveringClient {
    /// Gives an earlier answer in the server's place when a call has failed, if the server has allowed that
    /// (`stale-if-error`, RFC 5861 section 4).
    ///
    /// It keeps successful answers to GET in memory, each for whom it was given alone, within the bounds of RFC 9111: nothing
    /// with `no-store`, nothing stale of what is to be validated anew. It is no HTTP cache: as long as the server answers, its
    /// answers are given. A stale one has its `Age`, is told as a `fallback` event, and stands in the history behind what has
    /// failed. A request that changes something drops what is kept of its URL; one that has conditions or a range of its own
    /// passes by. Without a server's or a request's word nothing is given, unless a default is set.
    ///
    /// It stands outside the engine. Outside a ``Fallback`` too it answers where that has failed as well.
    public final class StaleAnswers: ClientLayer, CustomStringConvertible {
        private static let safe: Set<HTTPRequest.Method> = [.get, .head, .options, .trace]

        private let standard: Duration?
        private let applies: @Sendable (Outcome) -> Bool
        private let bounds: (entries: Int, bytes: Int)
        private let table: Locked<StaleTable>

        /// Outside the engine: it is about what a call has come to in the end.
        public var place: CallContext.LayerPlace { .outsideRecovery }

        /// Creates the layer.
        ///
        /// - Parameters:
        ///   - standard: For how long behind its freshness an answer may stand in if nobody says so. Default: not at all.
        ///   - mostEntries: The most answers to keep. Default: 100.
        ///   - mostBytes: The most that they hold in all; a single one is kept up to a tenth of it. Default: 1 MiB.
        ///   - applies: Which failures it stands in for. Default: 500, 502, 503, 504, lost connections and timeouts.
        public init(
            forUpTo standard: Duration? = nil,
            mostEntries: Int = 100,
            mostBytes: Int = 1 << 20,
            when applies: @escaping @Sendable (Outcome) -> Bool = { $0.isServerError }
        ) {
            self.standard = standard
            self.applies = applies
            bounds = (mostEntries, mostBytes)
            table = Locked(StaleTable(mostEntries: mostEntries, mostBytes: mostBytes))
        }

        /// How many answers are kept, and how many bytes they hold in all.
        public var size: (entries: Int, bytes: Int) { table.withLock { ($0.count, $0.bytes) } }

        /// Drops all that is kept.
        public func removeAll() {
            table.withLock { $0 = StaleTable(mostEntries: bounds.entries, mostBytes: bounds.bytes) }
        }

        /// The name and how much is kept; nothing of what it is.
        public var description: String { "StaleAnswers(\(size.entries) answers, \(size.bytes) bytes)" }

        /// Sends the request, and gives an earlier answer if that fails.
        public func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            let url = Fingerprint.text(of: "\(Origin(of: request))\(request.path ?? "/")")
            guard request.method == .get, body == nil, !request.headerFields.hasConditions else {
                let response = try await next(request, body: body, context: context)
                // What was changed is not what it was (RFC 9111 section 4.4).
                if !Self.safe.contains(request.method), !response.isFailure {
                    table.withLock { $0.drop(prefix: url + " ") }
                }
                return response
            }
            let end = try await next.end(request, body: body, context: context)
            let key = await key(of: request, url, context)
            let now = context.runtime.time.now.sinceStart
            switch end {
            case .answered(let response):
                if let key { keep(response, to: request, under: key, at: now) }
                return response
            case .failed(let outcome, let end):
                guard applies(outcome), let key,
                    let answer = table.withLock({ $0.answer(to: request, under: key) }),
                    let head = answer.answer(to: request, at: now, otherwise: standard)
                else { return try end() }
                context.emit(.fallback(from: outcome.kind.rawValue, to: "stale"))
                return RecoveredResponse(
                    head: head,
                    body: MessageBody(answer.body),
                    history: context.record.history
                )
            }
        }

        private func keep(_ response: RecoveredResponse, to request: HTTPRequest, under key: String, at now: Duration) {
            guard response.outcome.kind == .ok, let body = response.body.bytesInMemory,
                let answer = StaleAnswer(to: request, response.head, body: body, at: now)
            else { return }
            table.withLock { $0.keep(answer, under: key) }
        }

        /// What an answer is kept under: the URL, and for whom it was given, by fingerprints; nil if nobody can tell.
        private func key(of request: HTTPRequest, _ url: String, _ context: CallContext) async -> String? {
            let identity = await context.credential(of: request).name
            // A layer inside has attached a credential, and has not said beforehand whose.
            if identity.isEmpty, context.record.presented != nil { return nil }
            var secrets = ""
            for field in request.headerFields where CredentialFields.looksLikeCredential(field) {
                secrets += "\(field.name.canonicalName)=\(Fingerprint.text(of: field.value));"
            }
            return "\(url) \(identity) \(Fingerprint.text(of: secrets))"
        }
    }
}

extension Outcome {
    /// Whether it is what RFC 5861 calls an error, or no answer at all.
    public var isServerError: Bool {
        switch kind {
        case .transport, .timedOut: transportError?.isTransient != false
        case .unavailable: status.map { [500, 502, 503, 504].contains($0) } ?? true
        default: false
        }
    }
}

extension HTTPFields {
    /// Whether a request asks for a part, or for an answer only if something has changed or has not.
    fileprivate var hasConditions: Bool {
        contains { $0.name == .range || $0.name.canonicalName.hasPrefix("if-") }
    }
}
