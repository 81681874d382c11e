import AuthRecovery
package import HTTPRecovery
import HTTPTypes

/// A step that a state offers, because the server has published its link.
///
/// ```swift
/// if case .passwordWarning(let warning) = state, let skip = warning.skip {
///     state = try await skip()
/// }
/// ```
///
/// A step that spends something (a password, a code, a message to be sent) is never sent again on doubt. All steps throw
/// `RecoveryError`: if the server answers with a state that nothing leads on from by itself, such as a lockout or a
/// push that was rejected, the error tells it, and ``OktaState/init(after:continuing:)`` reads the state. A link to another
/// origin than the org's is refused, with ``OktaLinkError`` as the error's cause.
public struct OktaStep<Input: Sendable>: Sendable {
    /// Where it goes.
    public let link: OktaLink

    private(set) var api: OktaAPI
    let stateToken: Secret?
    var purpose = OktaCallPurpose.step
    /// Whether it is a try at a password or a code, which a lockout holds back.
    var isAttempt = false
    var resend = RequestOptions.ResendPermission.spending
    let members: @Sendable (Input) -> [JSONValue.Member]
    /// Whether the body is a form: so the page of another party hands its answer over.
    var isForm = false
    var query: @Sendable (Input) -> [String] = { _ in [] }

    /// Takes the step.
    ///
    /// - Returns: The state that it leads to; nil if the answer tells none, as some resends' do.
    func perform(_ input: Input) async throws -> OktaTransaction? {
        let request = try api.org.request(for: link, adding: query(input))
        var body: [JSONValue.Member] = []
        if let stateToken { body.append(JSONValue.Member("stateToken", .string(stateToken.reveal()))) }
        body += members(input)
        return try await api.step(
            OktaAPI.Call(
                request: request,
                body: request.method == .post && !isForm ? .object(body) : nil,
                content: isForm ? .form(FormFields(body)) : nil,
                resend: resend,
                presents: stateToken == nil ? nil : .state,
                purpose: purpose,
                isAttempt: isAttempt
            )
        )
    }

    /// Takes the step.
    ///
    /// - Returns: The state that it leads to.
    /// - Throws: `RecoveryError`, of the kind `unreadable` if the answer tells no state; `CancellationError` as soon
    ///   as the task is cancelled.
    public func callAsFunction(_ input: Input) async throws -> OktaState {
        guard let transaction = try await perform(input) else { throw RecoveryError(.unreadable, in: nil) }
        return OktaState(transaction, api: api)
    }
}

extension OktaStep where Input == Void {
    /// Takes the step.
    ///
    /// - Returns: The state that it leads to.
    /// - Throws: `RecoveryError`, of the kind `unreadable` if the answer tells no state; `CancellationError` as soon
    ///   as the task is cancelled.
    public func callAsFunction() async throws -> OktaState {
        try await self(())
    }
}

/// A step after which nothing new is known of the state: having a code sent again, or ending the transaction.
public struct OktaQuietStep: Sendable {
    var step: OktaStep<Void>

    /// Where it goes.
    public var link: OktaLink { step.link }

    /// Takes the step.
    ///
    /// - Returns: The state, if the answer tells one.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func callAsFunction() async throws -> OktaState? {
        try await step.perform(()).map { OktaState($0, api: step.api) }
    }
}

extension OktaStep: ClientBound {
    package var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }
}

extension OktaQuietStep: ClientBound {
    package var client: RecoveringClient {
        get { step.client }
        set { step.client = newValue }
    }
}

extension FormFields {
    /// The members whose values are texts.
    fileprivate init(_ members: [JSONValue.Member]) {
        self.init()
        for member in members { add(member.key, member.value.string) }
    }
}
