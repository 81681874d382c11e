package import HTTPTypes

/// What a response states about trying again: how long to wait, and whether to try at all.
///
/// The fields are looked at in a fixed order: milliseconds before `Retry-After`, that before the draft `RateLimit`
/// field, that before the older `RateLimit-*` and `X-RateLimit-*` families. The first that is present decides: if
/// its value cannot be read, no lower one is consulted and the caller's own backoff has to do. If a field stands on
/// several lines that disagree, the longest time that can be read counts: nothing may go out early.
package struct ServerDelay: Sendable, Hashable {
    /// An explicit word about whether to try again.
    @nonexhaustive package enum Hint: String, Sendable, Hashable {
        /// The server asks not to try again.
        case stop
        /// The server asks to try again, whatever the status suggests.
        case force
    }

    /// How sure a field is to be about the request that was answered.
    @nonexhaustive package enum Field: Sendable, Hashable {
        /// A field whose only purpose is to state a delay, by its name in lower case.
        case delayField(String)
        /// A field that reports on a limit, by its name in lower case.
        case limitField(String)

        /// The name of the field in lower case.
        package var fieldName: String {
            switch self {
            case .delayField(let name), .limitField(let name): name
            }
        }
    }

    /// The stated delay, zero if the stated moment has passed; nil if none is stated or it cannot be read.
    package var delay: Duration?

    /// The field that decided about the delay, readable or not; nil if no field speaks of one.
    package var field: Field?

    /// The server's explicit word about trying again.
    package var hint: Hint?

    /// Whether the response says that a limit of its own kind is used up.
    package var isLimitExhausted: Bool

    /// Reads a response.
    ///
    /// The limit families stand on successful answers too, so they count as a stated delay only if the request was
    /// refused for a limit: on a 429, on a 403 or 503 that says that nothing is left, and wherever the caller says so.
    /// A limit that has something left is not what the request was refused for, and its reset is no delay.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - receivedAt: The local time at which it came.
    ///   - isThrottle: Whether the response is known, say by its body, to be a refusal for a limit; nil judges by
    ///     status and fields.
    package init(_ response: HTTPResponse, receivedAt: Timestamp, isThrottle: Bool? = nil) {
        let fields = response.headerFields
        let clock = ServerClock(fields, receivedAt: receivedAt)
        let limits = LimitFamilies(fields, clock: clock)
        self.hint = RetryHints.hint(in: fields)
        self.isLimitExhausted = limits.isExhausted
        let status = response.status.code
        // A success has nothing to wait for; 202 may say when to look again, a redirect when to follow.
        if (200..<300).contains(status), status != 202, isThrottle != true { return }
        var statement = DelayFields.statement(in: fields, clock: clock)
        if statement == nil {
            let isSurelyThrottle = isThrottle ?? (status == 429)
            let maySpeakOfLimits = isSurelyThrottle || ((status == 403 || status == 503) && limits.isExhausted)
            if maySpeakOfLimits { statement = limits.statement(isExhaustedOnly: !isSurelyThrottle) }
        }
        self.delay = statement?.delay
        self.field = statement?.field
    }
}

extension ServerDelay {
    /// What one field says.
    struct Statement {
        var delay: Duration?
        var field: Field
    }
}

/// The fields whose only purpose is to state a delay.
private enum DelayFields {
    static func statement(in fields: HTTPFields, clock: ServerClock) -> ServerDelay.Statement? {
        if case .delay(let delay) = RetryHints.pushback(in: fields) {
            return ServerDelay.Statement(delay: delay, field: .delayField(RetryHints.pushbackField))
        }
        for name in ["retry-after-ms", "x-ms-retry-after-ms"] where !fields.lines(name).isEmpty {
            return longest(name, in: fields) { DelayText.milliseconds($0, allowsFraction: true) }
        }
        // An invalid value of this one is to be ignored, so others may still speak.
        if let aws = longest("x-amz-retry-after", in: fields, { DelayText.milliseconds($0, allowsFraction: false) }),
            aws.delay != nil
        {
            return aws
        }
        if !fields.lines("retry-after").isEmpty {
            return longest("retry-after", in: fields) { DelayText.retryAfter($0, clock: clock) }
        }
        return nil
    }

    /// What a field says; the longest time if several lines can be read.
    private static func longest(
        _ name: String,
        in fields: HTTPFields,
        _ read: (String) -> Duration?
    ) -> ServerDelay.Statement? {
        let lines = fields.lines(name)
        guard !lines.isEmpty else { return nil }
        return ServerDelay.Statement(delay: lines.lazy.compactMap(read).max(), field: .delayField(name))
    }
}
