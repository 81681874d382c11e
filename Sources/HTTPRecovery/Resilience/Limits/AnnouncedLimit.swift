/// What a server has announced of its limits on somebody's requests, and what is left of them; a value without clock or lock.
struct AnnouncedLimit: Sendable {
    /// One limit.
    private struct Window: Sendable {
        var name: String
        /// What was left by the server's last word.
        var remaining: Double
        /// When there is more.
        var end: Duration
        /// The most that was ever left: the quota, as far as it is known.
        var largest: Double
    }

    private var windows: [Window] = []
    /// The attempts that are under way, which the server's last word does not count.
    private var inFlight = 0
    /// When the next attempt leaves if they leave spaced.
    private var next = Duration.zero

    /// Whether nothing is known that could hold anybody at the time.
    func isOver(at now: Duration) -> Bool {
        inFlight == 0 && windows.allSatisfy { $0.end <= now } && next <= now
    }

    /// Takes the server's word for limits in place of what was known of those.
    ///
    /// - Parameters:
    ///   - announced: What it says.
    ///   - longest: The most that a limit is heeded; nobody is shut out by a far one.
    ///   - now: When it said so.
    mutating func note(_ announced: [LimitFamilies.Announced], upTo longest: Duration, at now: Duration) {
        windows.removeAll { $0.end <= now }
        for limit in announced {
            let known = windows.firstIndex { $0.name == limit.name }
            let quota = max(limit.remaining, limit.quota ?? 0, known.map { windows[$0].largest } ?? 0)
            let window = Window(
                name: limit.name,
                remaining: limit.remaining,
                end: now.saturatingAdding(min(limit.reset, longest)),
                largest: quota
            )
            if let known { windows[known] = window } else { windows.append(window) }
        }
    }

    /// Takes a place for an attempt, which may have to wait for it.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - share: Below what share of a quota the attempts leave evenly until there is more.
    ///   - limit: The longest that it is worth waiting for; nothing is taken beyond it.
    mutating func take(at now: Duration, spacingBelow share: Double, within limit: Duration) -> (
        wait: Duration, isTaken: Bool
    ) {
        var (wait, pause) = (Duration.zero, Duration.zero)
        for window in windows where window.end > now {
            let left = window.remaining - Double(inFlight)
            if left < 1 {
                wait = max(wait, window.end - now)
            } else if left < window.largest * share {
                pause = max(pause, (window.end - now).scaled(by: 1 / left))
            }
        }
        if pause > .zero { wait = max(wait, next - now) }
        guard wait <= limit else { return (wait, false) }
        inFlight += 1
        if pause > .zero { next = max(now, next).saturatingAdding(pause) }
        return (wait, true)
    }

    /// Takes note that an attempt has ended.
    mutating func end() {
        inFlight = max(0, inFlight - 1)
    }
}
