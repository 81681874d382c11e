import HTTPTypes

/// The fields with which servers forbid or demand another attempt.
enum RetryHints {
    static let pushbackField = "grpc-retry-pushback-ms"

    /// What `grpc-retry-pushback-ms` says (gRPC proposal A6).
    enum Pushback: Hashable {
        /// The field is absent.
        case absent
        /// Wait this long.
        case delay(Duration)
        /// Do not try again: the value is negative, unreadable or repeated.
        case stop
    }

    static func hint(in fields: HTTPFields) -> ServerDelay.Hint? {
        var words: Set<String> = []
        for name in ["x-should-retry", "stripe-should-retry"] {
            for line in fields.lines(name) { words.insert(line.lowercased()) }
        }
        if words.contains("false") || pushback(in: fields) == .stop { return .stop }
        return words.contains("true") ? .force : nil
    }

    static func pushback(in fields: HTTPFields) -> Pushback {
        let lines = fields.lines(pushbackField)
        guard let line = lines.first else { return .absent }
        guard lines.count == 1, let number = DecimalNumber(Array(line.utf8)[...], allowsFraction: false),
            number.whole <= Int64(Int32.max)
        else { return .stop }
        return .delay(number.milliseconds)
    }
}
