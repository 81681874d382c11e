extension Duration {
    /// The seconds as a decimal number without any loss, such as `2.5`; within zero and ``longest``.
    var exactText: String {
        let (seconds, attoseconds) = min(max(self, .zero), .longest).components
        guard attoseconds > 0 else { return String(seconds) }
        var digits = String(String(1_000_000_000_000_000_000 + attoseconds).dropFirst())
        while digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
        return "\(seconds).\(digits)"
    }

    /// Reads what ``exactText`` has written; nil for any other text.
    init?(exactText text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), text.utf8.count <= 40,
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }),
            let seconds = Int64(Substring(parts[0]))
        else { return nil }
        var attoseconds: Int64 = 0
        if parts.count == 2 {
            let digits = String(Substring(parts[1]))
            guard digits.utf8.count <= 18,
                let read = Int64(digits + String(repeating: "0", count: 18 - digits.utf8.count))
            else { return nil }
            attoseconds = read
        }
        guard seconds <= Duration.longest.components.seconds else { return nil }
        self.init(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }
}
