import HTTPRecovery
import HTTPTypes

/// A factor has to be enrolled.
public struct OktaEnrolling: OktaTransactionState {
    let stage: OktaStage

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { stage.transaction }

    /// The factors, with what is known of each.
    public var factors: [OktaFactor] { transaction.factors }

    /// Enrolls a factor; nil if the server does not offer it.
    public func enroll(_ factor: OktaFactor) -> OktaStep<OktaFactorEnrollment>? {
        factor.links["enroll"].first.map { link in
            var step = OktaStep<OktaFactorEnrollment>(
                link: link,
                api: stage.api,
                stateToken: transaction.stateToken,
                members: { $0.members }
            )
            step.purpose = factor.type.isSent ? .sending : .step
            return step
        }
    }

    /// The questions to choose from, for a security question; nil if the server does not offer them.
    ///
    /// - Returns: The ids of the questions, and their texts.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func questions(for factor: OktaFactor) async throws -> [(id: String, text: String)]? {
        guard let link = factor.links["questions"].first else { return nil }
        var request = try stage.api.org.request(for: link)
        request.method = .get
        let response = try await stage.api.send(
            OktaAPI.Call(request: request, resend: .replayable, presents: .state, purpose: .plain)
        )
        let json = (response.body.bytesInMemory.map { Array($0) }).flatMap { try? JSONValue(parsing: $0) }
        return (json?.array ?? []).prefix(64).compactMap { entry in
            guard let id = entry["question"]?.string, let text = entry["questionText"]?.string else { return nil }
            return (id, text)
        }
    }

    /// Goes on without enrolling more; only if nothing required is left.
    public var skip: OktaStep<Void>? { stage.skip }

    /// Ends the transaction; nil if there is nothing to end.
    public var cancel: OktaQuietStep? { stage.cancel }
}
