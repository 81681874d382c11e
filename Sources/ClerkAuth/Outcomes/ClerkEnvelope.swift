import AuthRecovery
import HTTPRecovery

/// The errors of an answer of Clerk's, in any of the forms that occur.
enum ClerkEnvelope {
    /// The Frontend API's own form, and the single object that its guides print.
    case errors([ClerkError])
    /// The form of the OAuth endpoints: `error` is a word.
    case oauth(OAuthError)
    /// The hint of an app's own backend that a session has to be verified again.
    case hint(type: String?, reason: String?, reverification: JSONValue?)

    /// Reads a body; nil if it holds no error in a form that is known.
    init?(_ body: JSONValue) {
        let entries = body["errors"]?.array ?? body["errors"].map { [$0] } ?? []
        let errors = entries.prefix(32).compactMap(ClerkError.init)
        if !errors.isEmpty {
            self = .errors(errors)
        } else if let error = body["error"], case .object = error, let single = ClerkError(error) {
            self = .errors([single])
        } else if let error = OAuthError(body) {
            self = .oauth(error)
        } else if let hint = body["clerk_error"], case .object = hint {
            self = .hint(
                type: hint["type"]?.codeText?.bounded(to: 256),
                reason: hint["reason"]?.codeText?.bounded(to: 256),
                reverification: hint["metadata"]?["reverification"]
            )
        } else {
            return nil
        }
    }
}

/// One error of an answer; every member may be missing.
struct ClerkError {
    var code: String?
    /// Whether there is a code and it is empty, as that of one entry of the registry.
    let hasEmptyCode: Bool
    var message: String?
    var longMessage: String?
    /// Further members, kept whole: which there are differs by code.
    var meta: JSONValue?

    /// Reads an entry; nil if it says nothing at all.
    init?(_ value: JSONValue) {
        code = value["code"]?.codeText?.bounded(to: 256)
        hasEmptyCode = value["code"]?.string == ""
        message = (value["message"]?.string ?? value.string)?.nonEmpty?.bounded(to: 4096)
        longMessage = value["long_message"]?.string?.nonEmpty?.bounded(to: 4096)
        if let meta = value["meta"], case .object(let members) = meta, !members.isEmpty { self.meta = meta }
        if code == nil, message == nil, longMessage == nil, meta == nil { return nil }
    }

    /// The field that the error concerns; one of Clerk's guides prints `name` for it.
    var parameter: String? {
        let named = meta?["param_name"]?.string?.nonEmpty ?? meta?["name"]?.string?.nonEmpty
        return (named ?? (code == "legal_not_accepted" ? "legal_accepted" : nil))?.bounded(to: 256)
    }

    /// Whether the code itself says that the account is locked.
    fileprivate var isLock: Bool { code == "user_locked" }
}

extension ClerkError {
    /// How long an account stays locked.
    ///
    /// Clerk states the time that remains; without one the lock has no end. What cannot be read as a number counts as
    /// absent: it is better to hold attempts back than to spend them.
    ///
    /// - Parameters:
    ///   - lock: The error that says that the account is locked; its own time comes first.
    ///   - body: The whole answer: other errors of it, or its own `meta`, may state the time too.
    static func lockout(by lock: ClerkError, in body: JSONValue?) -> Outcome.Lockout {
        let (exact, either) = (["lockout_expires_in_seconds"], ["lockout_expires_in_seconds", "duration_in_seconds"])
        let others = (body?["errors"]?.array ?? []).prefix(32).compactMap(ClerkError.init)
        let places =
            [(lock.meta, either)] + others.map { ($0.meta, $0.isLock ? either : exact) } + [(body?["meta"], either)]
        for (meta, names) in places {
            guard let time = names.lazy.compactMap({ seconds(meta?[$0]) }).first else { continue }
            return .remaining(time)
        }
        return .indefinite
    }

    private static func seconds(_ value: JSONValue?) -> Duration? {
        guard let number = value?.number ?? value?.string.flatMap({ try? JSONValue(parsing: $0).number }) else {
            return nil
        }
        return max(.zero, number.seconds)
    }
}
