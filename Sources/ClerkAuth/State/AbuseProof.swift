public import AuthRecovery
public import HTTPRecovery
import HTTPTypes

extension ClerkConfiguration {
    /// Proves to Clerk that somebody is no robot, where the program can: it shows a widget, or asks a service.
    ///
    /// It works within the deadline of the call that was refused. What it does not solve is asked for as a question
    /// (`Factor.Key.captcha`); a call that nobody answers questions for ends as `challenge_required`.
    public protocol Proving: Sendable {
        /// Solves a captcha.
        ///
        /// - Returns: The widget's token; nil if it cannot be solved.
        /// - Throws: Anything, which becomes the cause of the refusal; `CancellationError` when the task is cancelled.
        func captcha() async throws -> ClerkConfiguration.Captcha?

        /// Proves what Clerk's protection wants.
        ///
        /// - Parameter check: What it wants, as Clerk says it: `sdk_url`, `token`, `expires_at`.
        /// - Returns: The proof; nil if there is none.
        /// - Throws: As ``captcha()``.
        func proof(for check: JSONValue) async throws -> Secret?
    }

    /// A captcha that was solved.
    public struct Captcha: Sendable, Hashable {
        /// The widget's token; it is presented once.
        public var token: Secret
        /// The sort of widget, by Clerk's word: `smart` or `invisible`.
        public var widgetType: String

        /// Creates a captcha.
        public init(token: Secret, widgetType: String = "smart") {
            self.token = token
            self.widgetType = widgetType
        }
    }
}

/// Proves that somebody is no robot if a call is refused for that, once; the call goes out again behind it.
///
/// A proof goes to the place that Clerk has for it: to the client, to the sign-in or sign-up that it is for, or along with the
/// form that begins one.
struct AbuseProof: RecoveryPolicy {
    let api: ClerkAPI
    let source: any ClerkConfiguration.Proving
    let call: ClerkAPI.Call
    let progress: CallProgress

    func decide(_ failure: FailureContext) -> FailureContext.Decision {
        guard failure.wasSent, failure.outcome.processed == .no else { return .pass }
        switch failure.outcome.code {
        case "requires_captcha": return repair(.captcha(isInForm: false))
        case "captcha_missing_token" where call.beginsFlow: return repair(.captcha(isInForm: true))
        case "requires_protect_check":
            switch call.placeOfProofs {
            case .flow(let path): return repair(.check(path))
            case .creation: return repair(.check(nil))
            case nil: return .pass
            }
        default: return .pass
        }
    }

    private func repair(_ wanted: Proof.Wanted) -> FailureContext.Decision {
        .repair(Proof(api: api, source: source, wanted: wanted, progress: progress))
    }

    private struct Proof: FailureContext.Remediation {
        enum Wanted {
            /// A captcha's token, with the form that was refused or for the client.
            case captcha(isInForm: Bool)
            /// A proof for the flow at this path; nil for the one that is to begin.
            case check(String?)
        }

        let api: ClerkAPI
        let source: any ClerkConfiguration.Proving
        let wanted: Wanted
        let progress: CallProgress

        // A creation may want both, one after the other.
        var name: String { if case .captcha = wanted { "solve_challenge" } else { "solve_protect_check" } }

        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            let call: ClerkAPI.Call
            switch wanted {
            case .captcha(let isInForm):
                guard let captcha = try await source.captcha() else {
                    return .failed(outcome, reason: .notRecoverable)
                }
                guard !isInForm else {
                    progress.add(AbuseEvidence(captcha: captcha).form)
                    return .repaired
                }
                call = .captcha(captcha)
            case .check(let flow):
                guard let proof = try await source.proof(for: outcome.details?["protect_check"] ?? .null) else {
                    return .failed(outcome, reason: .notRecoverable)
                }
                guard let flow else {
                    progress.add(AbuseEvidence(proof: proof).form)
                    return .repaired
                }
                call = .protectCheck(of: flow, proof)
            }
            try await present(call, within: context)
            return .repaired
        }

        /// Presents a proof; the token that comes with the answer is the same client's for the call that has waited for it.
        private func present(_ call: ClerkAPI.Call, within context: CallContext) async throws {
            let before = ClientToken.identity(of: try await api.tokens.read().credentials)
            let response = try await context.work(isShared: false) { try await api.within($0).send(call) }
            guard let presented = context.record.presented, presented.identity == before,
                case .replace(let token) = ClientToken.change(statedBy: response.headerFields)
            else { return }
            let stored = try await api.tokens.read().credentials
            guard stored.clientToken == token else { return }
            context.record.presented = ClientToken.presented(stored)
        }
    }
}

extension ClerkAPI.Call {
    /// Whether the call begins a sign-in or a sign-up, whose form can take proofs along.
    var beginsFlow: Bool { placeOfProofs == .creation }

    /// Where a proof against abuse can go beside the client.
    var placeOfProofs: AbuseQuestion.Place? { ClerkEndpoint(method: method, path: path).placeOfProofs }

    /// Presents a captcha's token.
    fileprivate static func captcha(_ captcha: ClerkConfiguration.Captcha) -> ClerkAPI.Call {
        ClerkAPI.Call(
            method: .post,
            path: "/client/verify",
            body: .form(AbuseEvidence(captcha: captcha).form),
            resend: .spending
        )
    }

    /// Presents the proof that a sign-in or a sign-up wants against abuse.
    ///
    /// - Parameter flow: Its path.
    static func protectCheck(of flow: String, _ proof: Secret) -> ClerkAPI.Call {
        ClerkAPI.Call(
            method: .patch,
            path: "\(flow)/protect_check",
            body: .form(AbuseEvidence(proof: proof).form),
            resend: .spending
        )
    }
}
