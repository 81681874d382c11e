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
        /// The longest that it ever took until there was more.
        var length: Duration
        /// Whether no answer has told of it since the last end.
        var isAssumed = false

        /// Whether an end is that of this window, by the whole seconds in which servers speak.
        func ends(at time: Duration) -> Bool {
            !isAssumed && time <= end + .seconds(1) && time >= end - .seconds(1)
        }

        /// Behind its end the whole quota is there again, as far as anybody knows before the next answer; one request finds it
        /// out if nothing is known.
        mutating func renew(at now: Duration) {
            guard end <= now else { return }
            (remaining, end, isAssumed) = (max(largest, 1), now.saturatingAdding(length), true)
        }
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
        for limit in announced {
            let known = windows.firstIndex { $0.name == limit.name }
            let reset = min(limit.reset, longest)
            // Answers do not come in the order in which they were given: of one window the least counts.
            if let known, windows[known].ends(at: now.saturatingAdding(reset)) {
                windows[known].remaining = min(windows[known].remaining, limit.remaining)
                continue
            }
            let window = Window(
                name: limit.name,
                remaining: limit.remaining,
                end: now.saturatingAdding(reset),
                largest: max(limit.remaining, limit.quota ?? 0, known.map { windows[$0].largest } ?? 0),
                length: max(reset, known.map { windows[$0].length } ?? .zero)
            )
            if let known {
                windows[known] = window
            } else {
                // Bounded against endless names.
                if windows.count >= 8 { windows.removeFirst() }
                windows.append(window)
            }
        }
    }

    /// Takes a place for an attempt, which may have to wait for it.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - share: Below what share of a quota the attempts leave evenly until there is more.
    ///   - limit: The longest that it is worth waiting for.
    /// - Returns: How long to wait; and whether a place is taken, or the question comes again behind the wait, when there is
    ///   more.
    mutating func take(at now: Duration, spacingBelow share: Double, within limit: Duration) -> (
        wait: Duration, isTaken: Bool
    ) {
        let start = max(now, next)
        var (end, pause) = (Duration.zero, Duration.zero)
        for index in windows.indices {
            windows[index].renew(at: now)
            let window = windows[index]
            let left = window.remaining - Double(inFlight)
            if left < 1 {
                end = max(end, window.end - now)
            } else if left < window.largest * share {
                pause = max(pause, max(window.end - start, .zero).scaled(by: 1 / left))
            }
        }
        let wait = max(end, pause > .zero ? start - now : .zero)
        guard end <= .zero, wait <= limit else { return (wait, false) }
        inFlight += 1
        if pause > .zero { next = start.saturatingAdding(pause) }
        return (wait, true)
    }

    /// Takes note that an attempt has ended.
    ///
    /// - Parameter isCounted: Whether it has used one up of what was left without the server's saying what is left now.
    mutating func end(isCounted: Bool = false) {
        inFlight = max(0, inFlight - 1)
        guard isCounted else { return }
        for index in windows.indices { windows[index].remaining = max(0, windows[index].remaining - 1) }
    }
}

extension AnnouncedLimit {
    /// What is left of each limit, and for how long.
    func knowledge(at now: Duration) -> JSONValue {
        .array(
            windows.map { window in
                [
                    "name": .string(window.name), "remaining": .finite(window.remaining - Double(inFlight)),
                    "left_s": .wait(window.end - now), "quota": .finite(window.largest),
                    "length_s": .span(window.length),
                ]
            }
        )
    }

    /// Takes over what was left; false if not all of it can be read.
    mutating func learn(_ known: JSONValue, upTo longest: Duration, from moment: Duration) -> Bool {
        guard let known = known.array, known.count <= 8 else { return false }
        var read: [Window] = []
        for limit in known {
            guard let name = limit["name"]?.string, let remaining = limit["remaining"]?.moderate,
                let left = limit["left_s"]?.span, let quota = limit["quota"]?.moderate,
                let length = limit["length_s"]?.span
            else { return false }
            read.append(
                Window(
                    name: name,
                    remaining: max(remaining, 0),
                    end: moment.saturatingAdding(min(left, longest)),
                    largest: max(quota, 0),
                    length: min(max(length, .zero), longest)
                )
            )
        }
        windows = read
        return true
    }
}
