extension JSONValue.Number {
    /// Creates a number of seconds: whole ones without a fraction, others with at most nine digits of it.
    ///
    /// It is written from the duration's own parts, so 64.57 s stays `64.57`.
    public init(seconds duration: Duration) {
        let isNegative = duration < .zero
        let bounded = max(duration, .zero - .longest)
        let text = (isNegative ? .zero - bounded : bounded).decimalText(places: 9)
        self.init(validated: isNegative && text != "0" ? "-" + text : text)
    }
}
