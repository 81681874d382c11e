extension ByteMutator {
    /// What joins its neighbours to one character of a `String`, or is itself two scalars that are one character.
    ///
    /// A parser that counts in one view of a string and slices in another stumbles here and nowhere else. The last ones
    /// are as JSON writes them inside a text.
    public static let joiners: [String] = [
        "\u{0600}", "\u{0301}", "\u{200D}", "\u{1F1E9}", "\u{FE0F}", "\r\n", "\r", "\\r\\n", "\\u0600", "\\u0301",
    ]

    /// The text with one of the ``joiners`` put in at each place between two scalars, and cut off behind it.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - limit: The most texts to make; if there would be more, they are picked at random.
    /// - Returns: The texts: all of them in order, or `limit` of them.
    public func joined(_ text: String, limit: Int = 4096) -> [String] {
        let scalars = Array(text.unicodeScalars)
        let places = scalars.count + 1
        let count = places * Self.joiners.count * 2
        return (0..<min(count, limit)).map { number in
            let choice = count <= limit ? number : below(count)
            let place = choice / 2 % places
            var result = String.UnicodeScalarView(scalars[..<place])
            result.append(contentsOf: Self.joiners[choice / 2 / places].unicodeScalars)
            if choice.isMultiple(of: 2) { result.append(contentsOf: scalars[place...]) }
            return String(result)
        }
    }
}
