public import HTTPRecovery
import HTTPTypes

/// Says what happened to a request, what can be done and when; without a secret.
public enum FailureText {
    /// The lines for a failed request.
    ///
    /// - Parameters:
    ///   - error: The failure.
    ///   - request: What was asked for, such as `GET https://api.example.com/items`.
    ///   - now: The wall time, from which the time to try again is told.
    ///   - bound: The limit of time that has ended the call or its last attempt, if one has. Default: that of the call.
    public static func lines(
        _ error: RecoveryError,
        request: String,
        now: Timestamp,
        bound: TimeBound? = TimeBound(.call, setBy: "--deadline")
    ) -> [String] {
        var lines = ["\(request): \(what(error))"]
        if let why = why(error) { lines.append(why) }
        // Such as a token file that could not be written; another call's failure is told by its outcome.
        if let cause = error.cause, !(cause is RecoveryError) {
            lines.append("The cause: \(Masking.printable("\(cause)", limit: 300)).")
        }
        if let when = when(error, now: now) { lines.append(when) }
        if let advice = advice(error, bound) { lines.append(advice) }
        return lines
    }

    /// What happened, in one sentence.
    public static func what(_ error: RecoveryError) -> String {
        if let connection = connection(error) { return connection }
        let message = Masking.printable(sentence(error))
        let code = error.outcome.loggableCode.map { " (\($0))" } ?? ""
        guard let status = error.outcome.status ?? error.history.attempts.last?.status else { return message + code }
        return "HTTP \(status)\(code). \(message)"
    }

    /// What went wrong with the connection; nil if an answer came.
    public static func connection(_ error: RecoveryError) -> String? {
        guard let failure = error.outcome.transportError else { return nil }
        let sentence = transport(failure)
        let detail = Masking.printable(failure.message, limit: 200)
        return detail.isEmpty ? "\(sentence)." : "\(sentence) (\(detail))."
    }

    private static func transport(_ error: TransportError) -> String {
        switch error.code {
        case .cannotResolve: "the host name has no address"
        case .cannotConnect: "no connection could be made"
        case .tlsFailed: "no secure connection could be agreed on"
        case .certificateRejected: "the server's certificate is not trusted"
        case .connectionLost where error.certainty == .answered: "the connection was lost within the answer"
        case .connectionLost: "the connection was lost before an answer came"
        case .streamRefused: "the server refused the request unprocessed"
        case .timedOut where error.certainty == .neverSent: "no connection was made in time"
        case .timedOut where error.certainty == .answered: "the answer was not complete in time"
        case .timedOut: "no answer came in time"
        case .notHTTP: "what came back is not HTTP"
        case .truncated: "the answer ended before its announced end"
        case .badContentEncoding: "the answer's compression is broken"
        case .headersTooLarge: "the answer's header section is too large"
        case .requestBodyFailed: "the request's body could not be read"
        case .invalidRequest: "the request cannot be sent as it is"
        case .misconfigured: "an option for the connection is wrong"
        case .outOfResources: "this machine has run out of memory or file descriptors"
        case .bodyTooLarge: "the answer's body is larger than allowed"
        case .outputFailed, .outputClosed: "the body could not be written"
        default: "the transfer failed"
        }
    }

    /// What a person is told of any failure, by the reason that ended it and what it came to.
    public static func sentence(_ error: RecoveryError) -> String {
        switch (error.reason, error.kind) {
        case (.tooManyRedirects, _): "It was redirected too often."
        case (.redirectRefused, _):
            "The redirect was not followed: it leads from https to http, or would send the body to another server."
        case (.redirectInvalid, _): redirect(to: error.response?.head.headerFields[values: .location].first ?? "")
        // That a token was refused is how the renewal began, and does not say how it would have ended.
        case (.deadlinePassed, .credentialRejected): "The deadline passed while the token was being renewed."
        case (.deadlineWouldPass, .credentialRejected):
            "The token has to be renewed, which would end after the deadline."
        case (.renewalInDoubt, _):
            "The answer to the renewal of the token was lost, and it may be used up. Please sign in again."
        // Whether a session has ended is only known when nothing that is held can help any more.
        case (_, .credentialRejected):
            error.outcome.userMessage ?? "The server does not accept the credential that was presented."
        default: error.userMessage
        }
    }

    /// Why a redirect leads to nothing that can be asked for.
    private static func redirect(to location: String) -> String {
        let lowered = location.lowercased()
        guard let beginning = ["http://", "https://", "//"].first(where: { lowered.hasPrefix($0) }) else {
            return "The redirect leads to no http or https URL."
        }
        let authority = lowered.dropFirst(beginning.count).prefix { !"/?#".contains($0) }
        return authority.contains("@")
            ? "The redirect leads to a URL with a user name in it, and was not followed: no server chooses credentials."
            : "The redirect leads to a URL that is none."
    }

    /// Why it was not tried (again), and how often it was.
    private static func why(_ error: RecoveryError) -> String? {
        var text: String?
        switch error.reason {
        // The first sentence has said it.
        case .deadlinePassed where error.kind == .credentialRejected: text = nil
        case .deadlineWouldPass where error.kind == .credentialRejected: text = nil
        case .methodNotIdempotent, .processedUnknown:
            text = "Not sent again: the server may have processed it already."
        case .bodyNotReplayable: text = "Not sent again: the body can be sent only once."
        case .budgetExhausted: text = "Not sent again: the retry budget for this server is used up."
        case .breakerOpen: text = "Not sent: the circuit breaker holds back requests to this server."
        case .limitReached: text = "Not sent: too many requests to this server are under way already."
        case .deadlineWouldPass: text = "Not tried again: the wait would end after the deadline."
        case .deadlinePassed: text = "The deadline has passed."
        case .waitExceedsLimit: text = "Not tried again: the wait is longer than allowed."
        case .attemptsExhausted: text = nil
        case .responseDelivered: text = "Not sent again: part of the body has been printed already."
        default: return nil
        }
        let attempts = error.history.attempts.count
        guard attempts > 1 else { return text }
        let waited = error.history.waited
        let tried = "Tried \(attempts) times" + (waited > .zero ? ", waited \(HumanTime.text(waited))." : ".")
        return text.map { "\($0) \(tried)" } ?? tried
    }

    private static func when(_ error: RecoveryError, now: Timestamp) -> String? {
        // Less than a second, as of a backoff of our own, is over when it has been read.
        // Beyond ten years the time is of no use to anybody.
        guard let at = error.retryAt else { return nil }
        let left = at.elapsed(since: now)
        guard left >= .seconds(1), left < .seconds(315_360_000) else { return nil }
        return "Worth trying again at \(HumanTime.clock(at, now: now)), in \(HumanTime.text(at.elapsed(since: now)))."
    }

    private static func advice(_ error: RecoveryError, _ bound: TimeBound?) -> String? {
        switch error.reason {
        case .methodNotIdempotent, .processedUnknown:
            "If sending it twice does no harm, use --replayable, or --idempotency-key auto if the server knows keys."
        case .budgetExhausted: "--budget-burst and --budget-ratio set the budget."
        case .breakerOpen: "--breaker, or the policy file, says when a server is left alone."
        case .deadlineWouldPass, .deadlinePassed: bound?.advice
        case .waitExceedsLimit: "--max-wait sets the longest wait."
        default:
            switch error.outcome.transportError?.code {
            case .certificateRejected? where isAboutPin(error): "--pinnedpubkey says which keys are accepted."
            case .certificateRejected?: "--cacert FILE trusts another authority."
            case .cannotConnect?: "Is the server running, and the port right?"
            case .cannotResolve?: "Is the host name right?"
            case .timedOut?: bound?.advice
            case .bodyTooLarge?: "--max-body sets the limit; what a compressed body expands to has one of its own."
            default: remedy(error.remedies.first)
            }
        }
    }

    /// Whether a server was turned away by its key alone; libcurl's sentence tells.
    private static func isAboutPin(_ error: RecoveryError) -> Bool {
        error.outcome.transportError?.message.contains("pinned") ?? false
    }

    private static func remedy(_ remedy: Outcome.Remedy?) -> String? {
        switch remedy {
        case .reauthenticate, .refreshCredential: "The credential is not accepted: get a new one."
        case .contactAdmin: "Somebody who administers the server has to help."
        case .visitProvider: "Something has to be done on the provider's website first."
        default: nil
        }
    }
}

extension TransportError.Code {
    /// Whoever read the output has stopped.
    public static let outputClosed = TransportError.Code(rawValue: "output_closed")
}
