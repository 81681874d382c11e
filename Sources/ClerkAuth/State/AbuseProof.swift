public import AuthRecovery
public import HTTPRecovery
import HTTPTypes

extension ClerkConfiguration {
    /// Proves to Clerk that somebody is no robot, where the program can: it shows a widget, or asks a service.
    ///
    /// It works within the deadline of the call that was refused. A service without a browser has none, and its calls end as
    /// `challenge_required`.
    public protocol Proving: Sendable {
        /// Solves a captcha.
        ///
        /// - Returns: The widget's token; nil if it cannot be solved, and the refusal stands.
        /// - Throws: Anything, which becomes the cause of the refusal; `CancellationError` when the task is cancelled.
        func captcha() async throws -> ClerkConfiguration.Captcha?

        /// Proves what Clerk's protection wants.
        ///
        /// - Parameter check: What it wants, as Clerk says it: `sdk_url`, `token`, `expires_at`.
        /// - Returns: The proof; nil if there is none, and the refusal stands.
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
struct AbuseProof: RecoveryPolicy {
    let api: ClerkAPI
    let source: any ClerkConfiguration.Proving
    /// The call's path below `/v1`.
    let path: String

    func decide(_ failure: FailureContext) -> FailureContext.Decision {
        guard failure.wasSent, failure.outcome.processed == .no else { return .pass }
        switch failure.outcome.code {
        case "requires_captcha": return .repair(Proof(api: api, source: source, flow: nil))
        case "requires_protect_check":
            // At a creation there is no flow yet that could take the proof.
            guard let flow = Self.flow(in: path) else { return .pass }
            return .repair(Proof(api: api, source: source, flow: flow))
        default: return .pass
        }
    }

    /// The path of the sign-in or sign-up that a path is about; nil if it is about none.
    private static func flow(in path: String) -> String? {
        let segments = path.split(separator: "/").prefix(3)
        guard segments.count == 3, ["sign_ins", "sign_ups"].contains(segments[1]) else { return nil }
        return "/" + segments.joined(separator: "/")
    }

    private struct Proof: FailureContext.Remediation {
        let api: ClerkAPI
        let source: any ClerkConfiguration.Proving
        /// The path of what a proof is for; nil for a captcha.
        let flow: String?

        var name: String { "solve_challenge" }

        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            let call: ClerkAPI.Call
            if let flow {
                let check = outcome.details?["protect_check"] ?? .null
                guard let proof = try await source.proof(for: check) else {
                    return .failed(outcome, reason: .notRecoverable)
                }
                call = .protectCheck(of: flow, proof)
            } else {
                guard let captcha = try await source.captcha() else {
                    return .failed(outcome, reason: .notRecoverable)
                }
                call = .captcha(captcha)
            }
            _ = try await context.work(isShared: false) { try await api.within($0).perform(call) }
            return .repaired
        }
    }
}

extension ClerkAPI.Call {
    /// Presents a captcha's token.
    fileprivate static func captcha(_ captcha: ClerkConfiguration.Captcha) -> ClerkAPI.Call {
        var form = FormFields()
        form.add("captcha_token", secret: captcha.token)
        form.add("captcha_widget_type", captcha.widgetType)
        return ClerkAPI.Call(method: .post, path: "/client/verify", body: .form(form), resend: .spending)
    }

    /// Presents the proof that a sign-in or a sign-up wants against abuse.
    ///
    /// - Parameter flow: Its path.
    static func protectCheck(of flow: String, _ proof: Secret) -> ClerkAPI.Call {
        var form = FormFields()
        form.add("proof_token", secret: proof)
        return ClerkAPI.Call(method: .patch, path: "\(flow)/protect_check", body: .form(form), resend: .spending)
    }
}
