extension Duration {
    /// The seconds as a decimal number without any loss, such as `2.5`; within zero and ``longest``.
    var exactText: String { decimalText(places: 18) }

    /// The seconds as a decimal number to so many places, without zeros at its end; within zero and ``longest``.
    func decimalText(places: Int) -> String {
        let (seconds, attoseconds) = min(max(self, .zero), .longest).components
        var digits = attoseconds.padded(to: 18).prefix(places)
        while digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
        return digits.isEmpty ? String(seconds) : "\(seconds).\(digits)"
    }

    /// Reads what ``exactText`` has written; nil for any other text.
    init?(exactText text: String) {
        guard text.utf8.count <= 40, let number = DecimalNumber(Array(text.utf8)[...], allowsFraction: true),
            number.seconds.exactText == text
        else { return nil }
        self = number.seconds
    }
}
