public import HTTPRecovery

extension History {
    /// One thing that a call is expected to have done; what is not stated may be anything.
    public struct Expectation: Sendable, CustomStringConvertible {
        /// What is expected, in words.
        public let description: String
        fileprivate let isMet: @Sendable (Step?, StopReason?) -> Bool

        private init(_ description: String, isMet: @escaping @Sendable (Step?, StopReason?) -> Bool) {
            self.description = description
            self.isMet = isMet
        }

        /// An attempt.
        ///
        /// - Parameters:
        ///   - cause: Why it was made, such as `.retry(after: .rateLimited)`.
        ///   - kind: What it came to.
        ///   - status: The status that it was answered with.
        public static func attempt(
            because cause: Cause? = nil,
            _ kind: Outcome.Kind? = nil,
            status: Int? = nil
        ) -> Expectation {
            let words = [
                "an attempt", cause.map { "because of \($0)" }, kind.map { "that came to \($0.rawValue)" },
                status.map { "answered with \($0)" },
            ]
            return Expectation(words.compactMap(\.self).joined(separator: " ")) { step, _ in
                guard case .attempt(let attempt) = step else { return false }
                return cause.map { $0 == attempt.cause } ?? true && kind.map { $0 == attempt.kind } ?? true
                    && (status == nil || status == attempt.status)
            }
        }

        /// An attempt that was made because the one before had failed so.
        public static func retry(because kind: Outcome.Kind, status: Int? = nil) -> Expectation {
            attempt(because: .retry(after: kind), status: status)
        }

        /// A wait.
        ///
        /// - Parameters:
        ///   - kind: What was waited for.
        ///   - shortest: How long it lasted at least.
        ///   - longest: How long it lasted at most.
        public static func wait(
            because kind: Outcome.Kind? = nil,
            atLeast shortest: Duration = .zero,
            atMost longest: Duration? = nil
        ) -> Expectation {
            let words = [
                "a wait", kind.map { "because of \($0.rawValue)" },
                shortest > .zero ? "of at least \(shortest)" : nil, longest.map { "of at most \($0)" },
            ]
            return Expectation(words.compactMap(\.self).joined(separator: " ")) { step, _ in
                guard case .wait(let wait) = step else { return false }
                return kind.map { $0 == wait.reason } ?? true && wait.duration >= shortest
                    && longest.map { wait.duration <= $0 } ?? true
            }
        }

        /// A repair, such as the renewal of a credential.
        ///
        /// - Parameters:
        ///   - name: Its name in the history.
        ///   - succeeded: Whether it succeeded.
        public static func repair(_ name: String? = nil, succeeded: Bool = true) -> Expectation {
            let what = name.map { "the repair \($0)" } ?? "a repair"
            return Expectation("\(what) that \(succeeded ? "succeeded" : "failed")") { step, _ in
                guard case .repair(let found, let hasSucceeded) = step else { return false }
                return name.map { $0 == found } ?? true && hasSucceeded == succeeded
            }
        }

        /// That the call was given up, and why.
        public static func givenUp(_ reason: StopReason) -> Expectation {
            Expectation("that it was given up because of \(reason)") { step, end in step == nil && end == reason }
        }
    }

    /// A call that has not done what was expected.
    public struct Unexpected: Error, Sendable, Hashable, CustomStringConvertible {
        /// What was expected, and where it is missing.
        public let problem: String
        /// What the call has done, line by line.
        public let story: [String]

        /// What was expected, and what the call has done.
        public var description: String {
            "\(problem); it has done this:" + (story.isEmpty ? " nothing" : story.map { "\n    \($0)" }.joined())
        }
    }

    /// Checks what the call has done.
    ///
    /// ```swift
    /// try response.history.expect(.wait(because: .rateLimited, atLeast: .seconds(20)), .retry(because: .rateLimited))
    /// ```
    ///
    /// - Parameters:
    ///   - expected: What is expected, in order.
    ///   - isAll: Whether nothing else may have been done, before, between or after it. Default: it may.
    /// - Throws: ``Unexpected``, with what the call has done.
    public func expect(_ expected: Expectation..., andNothingElse isAll: Bool = false) throws(Unexpected) {
        var moments: [(step: Step?, end: StopReason?)] = steps.map { ($0, nil) }
        if let end { moments.append((nil, end)) }
        var rest = moments.enumerated().makeIterator()
        var before = "from the start"
        for expectation in expected {
            while true {
                guard let (index, moment) = rest.next() else {
                    throw Unexpected(problem: "the call lacks \(expectation), \(before)", story: story)
                }
                if expectation.isMet(moment.step, moment.end) {
                    before = "after line \(index + 1)"
                    break
                }
                if isAll {
                    throw Unexpected(problem: "line \(index + 1) is not \(expectation)", story: story)
                }
            }
        }
        if isAll, let (index, _) = rest.next() {
            throw Unexpected(problem: "line \(index + 1) was not expected", story: story)
        }
    }

    /// What the call has done, a line for each step, for people.
    ///
    /// It holds what events hold: words and times.
    public var story: [String] {
        steps.enumerated().map { index, step in
            let words =
                switch step {
                case .attempt(let attempt):
                    "attempt because of \(attempt.cause): \(attempt.kind.rawValue)"
                        + (attempt.status.map { ", status \($0)" } ?? "")
                case .wait(let wait): "wait of \(wait.duration.inSeconds) s because of \(wait.reason.rawValue)"
                case .repair(let name, let succeeded): "repair \(name): \(succeeded ? "succeeded" : "failed")"
                @unknown default: "something else"
                }
            return "\(index + 1). \(words)"
        } + (end.map { ["\(steps.count + 1). given up because of \($0)"] } ?? [])
    }
}
