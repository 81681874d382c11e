extension JSONValue {
    /// A JSON number in the spelling in which it was sent.
    public struct Number: Sendable, Hashable {
        /// The number as text, by JSON's grammar.
        public let text: String

        init(validated text: String) {
            self.text = text
        }

        /// Creates a whole number.
        public init(_ value: some BinaryInteger) {
            self.text = String(value)
        }

        /// Creates a number; NaN and infinities, which JSON cannot say, become the nearest number it can.
        public init(_ value: Double) {
            if value.isNaN {
                self.text = "0"
            } else if value.isInfinite {
                self.text = value < 0 ? "-1e308" : "1e308"
            } else if value == value.rounded(), abs(value) < 1e15 {
                self.text = String(Int64(value))
            } else {
                self.text = String(value)
            }
        }

        /// The number as a whole number: exact, or truncated and saturated if it has a fraction or is too large.
        public var saturatedInt: Int64 {
            if let exact = Int64(text) { return exact }
            let value = double
            if value >= 0x1p63 { return .max }
            if value < -0x1p63 { return .min }
            return Int64(value)
        }

        /// The nearest floating-point number; infinite if the number is too large.
        public var double: Double {
            Double(text) ?? (text.hasPrefix("-") ? -.infinity : .infinity)
        }

        /// The number of seconds as a duration, saturated.
        public var seconds: Duration {
            if let exact = Int64(text) { return min(max(.seconds(exact), .zero - .longest), .longest) }
            return .saturating(seconds: double)
        }
    }
}
