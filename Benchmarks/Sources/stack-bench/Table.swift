/// Text in columns.
enum Table {
    /// A line: its name to the left, the cells to the right of their columns.
    static func row(_ name: String, _ cells: [String]) -> String {
        name + String(repeating: " ", count: max(0, 23 - name.count)) + cells.map { padded($0) }.joined()
    }

    private static func padded(_ text: String) -> String {
        String(repeating: " ", count: max(1, 11 - text.count)) + text
    }

    /// A number with one digit behind the point where it is small; `n/a` for what was not measured.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return "n/a" }
        return abs(value) < 100 ? "\((value * 10).rounded() / 10)" : "\(Int(value.rounded()))"
    }
}
