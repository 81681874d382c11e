/// Amounts of bytes as people read them.
public enum HumanSize {
    private static let units = ["KiB", "MiB", "GiB", "TiB"]

    /// An amount, such as `812 B`, `4.2 KiB` or `120 MiB`.
    public static func text(_ byteCount: Int) -> String {
        let count = max(byteCount, 0)
        guard count >= 1024 else { return "\(count) B" }
        var (scale, unit) = (1024, 0)
        while count / scale >= 1024, unit + 1 < units.count {
            scale *= 1024
            unit += 1
        }
        // Cut and not rounded: what is told has come.
        let whole = count / scale
        let tenths = count % scale / (scale / 64) * 10 / 64
        return whole >= 100 || tenths == 0 ? "\(whole) \(units[unit])" : "\(whole).\(tenths) \(units[unit])"
    }
}
