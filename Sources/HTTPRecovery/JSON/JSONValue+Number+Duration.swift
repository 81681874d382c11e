extension JSONValue.Number {
    /// Creates a number of seconds: whole ones without a fraction, others with at most nine digits of it.
    ///
    /// It is written from the duration's own parts, so 64.57 s stays `64.57`.
    public init(seconds duration: Duration) {
        let isNegative = duration < .zero
        let bounded = min(max(duration, .zero - .longest), .longest)
        let (seconds, attoseconds) = (isNegative ? .zero - bounded : bounded).components
        var text = String(seconds)
        var nanoseconds = attoseconds / 1_000_000_000
        if nanoseconds > 0 {
            var width = 9
            while nanoseconds % 10 == 0 {
                nanoseconds /= 10
                width -= 1
            }
            let digits = String(nanoseconds)
            text += "." + String(repeating: "0", count: width - digits.count) + digits
        }
        self.init(validated: isNegative && text != "0" ? "-" + text : text)
    }
}
