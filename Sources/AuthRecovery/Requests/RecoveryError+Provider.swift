public import HTTPRecovery

extension RecoveryError {
    /// Creates the error that an answer amounts to which was accepted, and is not what the flow needs.
    ///
    /// - Parameters:
    ///   - kind: What it amounts to.
    ///   - remedies: What helps, the best first. Default: nothing.
    ///   - response: The answer, whose outcome says the rest; nil if there is none.
    public init(_ kind: Outcome.Kind, _ remedies: [Outcome.Remedy] = [], in response: RecoveredResponse?) {
        var outcome = response?.outcome ?? Outcome(kind, processed: .yes)
        outcome.kind = kind
        outcome.remedies = remedies
        if response != nil { outcome.processed = .yes }
        self.init(
            outcome: outcome,
            reason: .notRecoverable,
            response: response,
            history: response?.history ?? History()
        )
    }

    /// Nobody is signed in: nothing is held with which a call could be made, and nothing was sent.
    public static var signedOut: RecoveryError {
        RecoveryError(
            outcome: Outcome(.reauthenticationRequired, processed: .no, remedies: [.reauthenticate]),
            reason: .notRecoverable
        )
    }

    /// Something that the program needs is not set, and nothing was sent.
    ///
    /// - Parameter parameter: What is missing.
    public static func missing(_ parameter: String) -> RecoveryError {
        var outcome = Outcome(.misconfigured, scope: .app, processed: .no, remedies: [.fixRequest])
        outcome.parameter = parameter
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }
}

extension RecoveredResponse {
    /// The JSON of an answer that was accepted; an empty object for an empty body.
    ///
    /// - Parameter limit: How many bytes are read at most. Default: 1 MiB.
    /// - Throws: `RecoveryError` of the kind `unreadable` if it is none, of the kind `transport` if its end does not come.
    ///   `CancellationError` as soon as the task is cancelled.
    public func json(upTo limit: Int = 1 << 20) async throws -> JSONValue {
        let bytes: [UInt8]
        do {
            bytes = try await body.collect(upTo: limit)
        } catch is MessageBody.ReadError {
            throw RecoveryError(.unreadable, in: self)
        } catch let error as TransportError {
            var failure = RecoveryError(.transport, in: self)
            failure.outcome.transportError = error
            throw failure
        }
        if bytes.isEmpty { return .object([]) }
        guard let value = try? JSONValue(parsing: bytes) else { throw RecoveryError(.unreadable, in: self) }
        return value
    }
}
