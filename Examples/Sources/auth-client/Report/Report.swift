import AuthRecovery
import CommandLineSupport
import HTTPRecovery

/// How a command ended, for programs (`--json`) and for people.
struct Report: Sendable {
    enum End: String {
        case ok
        case failed
        case cancelled

        /// The word of the `done` event.
        var event: RecoveryEvent.End {
            switch self {
            case .ok: .ok
            case .failed: .failed
            case .cancelled: .cancelled
            }
        }
    }

    struct Session: Sendable {
        var id: String
        var status: String
        var expiresAt: Timestamp?
    }

    struct Failure: Sendable {
        var kind: String
        var code: String?
        var message: String
        var parameter: String?
        var retryAt: Timestamp?
        var remedies: [String]
        /// What went wrong with the connection, for people alone.
        var connection: String?
        /// Where the person has to do something, for people alone.
        var place: String?
        /// What the person can do with this program, for people alone.
        var advice: String?
        /// Whether nothing that a server has said is behind it, so that its code is this program's own word.
        var isLocal = false
    }

    /// Whose server it was about; nil for nobody's.
    var provider: String?
    var end: End
    var exit: ExitStatus
    var session: Session?
    var failure: Failure?
    /// The event that says why the command gives up; nil when it does not.
    var givingUp: RecoveryEvent.Kind?
    /// Why standard output took no more, which has ended the command; it is told as such.
    var outputFailure: FileError?

    /// A command that was carried out.
    static func ok(_ provider: String?, session: Session? = nil) -> Report {
        Report(provider: provider, end: .ok, exit: .success, session: session)
    }

    /// A command that an error ended.
    ///
    /// - Parameters:
    ///   - provider: Whose server it was about; nil for nobody's.
    ///   - error: The error.
    ///   - isAboutPath: Whether a path was requested, so that an error may be about that and not about the session.
    static func failed(_ provider: String?, with error: any Error, isAboutPath: Bool = false) -> Report {
        switch error {
        case is CancellationError:
            return Report(provider: provider, end: .cancelled, exit: .interrupted)
        case let error as RecoveryError:
            if error.reason == .notRecoverable, let failure = error.cause as? Credentials.StoreError {
                return failed(provider, with: failure)
            }
            // Whoever read the body has gone, as `head` does.
            if error.outcome.transportError?.code == .outputClosed { return failed(provider, with: FileError.unread) }
            // What went wrong is told by name: no service has failed.
            let isUnwritten = error.outcome.transportError?.code == .outputFailed
            let connection = FailureText.connection(error)
            let status = isAboutPath ? error.statusOfPath : nil
            let failure = Failure(
                kind: error.kind.rawValue,
                code: error.outcome.code,
                message: (status.map { "HTTP \($0): " } ?? "")
                    + (isUnwritten ? connection ?? "" : FailureText.sentence(error))
                    + Self.told(error.outcome.openTask),
                parameter: error.outcome.parameter,
                retryAt: error.retryAt,
                remedies: error.remedies.map(\.rawValue),
                connection: isUnwritten ? nil : connection,
                place: error.remedies.contains(.visitProvider) ? error.outcome.advice?["url"]?.string : nil,
                advice: advice(on: error, of: provider, isAboutPath: isAboutPath),
                isLocal: error.isOfThisSide
            )
            return Report(
                provider: provider,
                end: .failed,
                exit: isUnwritten ? .badInput : status == nil ? .ofCommand(error) : .httpError,
                failure: failure,
                givingUp: .givingUp(
                    error.outcome,
                    reason: error.reason,
                    retryAfter: error.retryAfter,
                    until: error.retryAt
                )
            )
        case let error as Challenge.NoAnswer:
            let failure = Failure(
                kind: Outcome.Kind.challengeRequired.rawValue,
                code: error.task ?? error.cause?.code,
                message: (error.cause?.userMessage.map { "\($0) " } ?? "")
                    + "An answer is needed (\(error.key.rawValue)), and there is none left to give."
                    + Self.told(error.task),
                remedies: [Outcome.Remedy.askUser.rawValue],
                advice: Self.advice(on: error.key)
            )
            return Report(
                provider: provider,
                end: .failed,
                exit: .badInput,
                failure: failure,
                givingUp: .givingUp(
                    Outcome(.challengeRequired, processed: .no),
                    reason: .noAnswer,
                    retryAfter: nil,
                    until: nil
                )
            )
        default:
            let output = error as? FileError
            let failure = Failure(
                kind: Outcome.Kind.invalidRequest.rawValue,
                message: "\(error)",
                remedies: [Outcome.Remedy.fixRequest.rawValue]
            )
            return Report(
                provider: provider,
                end: .failed,
                exit: .badInput,
                failure: failure,
                givingUp: .givingUp(
                    Outcome(.invalidRequest, processed: .no),
                    reason: .notRecoverable,
                    retryAfter: nil,
                    until: nil
                ),
                outputFailure: output?.isOfOutput == true ? output : nil
            )
        }
    }

    /// That a session is not to be used before something has been done.
    private static func told(_ task: String?) -> String {
        task.map { " The session is there, and waits for \($0)." } ?? ""
    }

    /// Where an answer comes from that nobody gives.
    private static func advice(on key: Factor.Key) -> String {
        switch key {
        // A passkey or a security key.
        case .webauthn:
            "--software-key FILE answers with a key in software; --answers can hold what another key has answered."
        case .password: "A terminal is asked; else --password-stdin reads it, and --answers FILE can hold it."
        default: "A terminal is asked; else --answers FILE can hold it."
        }
    }

    private static func advice(on error: RecoveryError, of provider: String?, isAboutPath: Bool) -> String? {
        if error.outcome.transportError?.code == .certificateRejected {
            return "--cacert FILE trusts another authority."
        }
        let wanted = [error.outcome.details?["callbackType"]?.string, error.outcome.message]
        if provider == "forgerock", wanted.contains(where: { $0?.contains("X509") == true }) {
            return "--cert FILE, with --key FILE for its key, is shown where the connection is made."
        }
        return switch (error.kind, error.reason) {
        // A journey that is suspended is no refusal.
        case (.userActionRequired, _) where provider == "forgerock" && error.outcome.status == 200:
            "With the link: auth-client … --resume 'LINK' sign-in."
        case (.misconfigured, _) where provider == "forgerock":
            "Do --base-url, --realm and --journey name what the server has?"
        case (.misconfigured, _): "Do the options name the server and the app as they are registered there?"
        // What has no code is not the API's own answer about something that it looked for.
        case (.notFound, _) where error.outcome.code == nil && !isAboutPath:
            "Does --base-url name what stands before the server's paths?"
        case (.reauthenticationRequired, _): "The command sign-in begins a session."
        case (.alreadySignedIn, _): "The command sign-out ends the session that is there."
        case (_, .waitExceedsLimit): "--max-wait sets the longest wait."
        case (_, .deadlineWouldPass), (_, .deadlinePassed): "--deadline sets how long the command may take."
        default: nil
        }
    }

    /// The report as one JSON object; it never holds a token.
    var json: JSONValue {
        func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
        return [
            "outcome": .string(end.rawValue),
            "provider": text(provider),
            "session": session.map {
                ["id": .string($0.id), "status": .string($0.status), "expires_at": text($0.expiresAt?.rfc3339)]
            } ?? .null,
            "failure": failure.map {
                [
                    "kind": .string($0.kind), "code": text($0.code), "message": .string($0.message),
                    "param": text($0.parameter), "retry_at": text($0.retryAt?.rfc3339),
                    "remedies": .array($0.remedies.map { .string($0) }),
                ]
            } ?? .null,
        ]
    }
}

extension RecoveryError {
    /// Whether it was made up on this side of the wire: by a key that did not sign, or by a check of what has come.
    fileprivate var isOfThisSide: Bool {
        if cause is WebAuthn.Failure { return true }
        return outcome.status == nil && outcome.code?.hasSuffix("_mismatch") == true
    }
}

extension History.StopReason {
    /// The sign-in needs an answer that nobody has.
    static let noAnswer = History.StopReason(rawValue: "no_answer")
}
