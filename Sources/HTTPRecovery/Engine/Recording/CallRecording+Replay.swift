import HTTPTypes

extension CallRecording {
    /// A recorded call, decided again.
    public struct Replay: Sendable, Hashable {
        /// One decision.
        public struct Step: Sendable, Hashable {
            /// The event, as a JSON object.
            public let event: JSONValue
            /// What was decided when it was recorded, in words.
            public let recorded: String
            /// What is decided now.
            public let decided: String
        }

        /// The decisions, in order.
        public let steps: [Step]

        /// The first decision that differs; nil if all are the same.
        public var difference: CallRecording.Difference? {
            steps.enumerated().first { $1.recorded != $1.decided }.map {
                CallRecording.Difference(index: $0.offset, recorded: $0.element.recorded, decided: $0.element.decided)
            }
        }

        /// Checks that all decisions are the same.
        ///
        /// - Throws: ``CallRecording/Difference`` if one differs.
        public func verify() throws(CallRecording.Difference) {
            if let difference { throw difference }
        }
    }
}

extension CallRecording {
    /// A recorded call is decided otherwise now.
    public struct Difference: Error, Sendable, Hashable, CustomStringConvertible {
        /// Which decision differs, counted from 0.
        public let index: Int
        /// What was decided when it was recorded.
        public let recorded: String
        /// What is decided now.
        public let decided: String

        /// What differs, for logs.
        public var description: String { "decision \(index + 1) was \"\(recorded)\" and is \"\(decided)\" now" }
    }
}

extension Recovery {
    /// Decides a recorded call again, without sending or waiting.
    ///
    /// - Parameters:
    ///   - recording: The recording.
    ///   - policies: What the call was decided by: those of the call, then those of the engine.
    /// - Returns: Each decision beside the recorded one.
    public static func replay(_ recording: CallRecording, policies: [any RecoveryPolicy]) -> CallRecording.Replay {
        let rules = RecoveryRules(
            policies: policies,
            maxAttempts: recording.maxAttempts,
            maxWait: recording.maxWait,
            resendsTransparently: recording.resendsTransparently
        )
        var state = CallState(rules: rules, method: HTTPRequest.Method(rawValue: recording.method) ?? .get)
        var steps: [CallRecording.Replay.Step] = []
        for entry in recording.entries {
            guard let event = CallState.Event(recorded: entry.event) else {
                // What cannot be read cannot be verified.
                steps.append(
                    CallRecording.Replay.Step(event: entry.event, recorded: entry.action, decided: "unreadable")
                )
                break
            }
            var random = entry.random[...]
            // What was not drawn then has no number now: any will show the difference.
            let action = state.next(
                after: event,
                remaining: entry.remaining ?? nil,
                random: random.isEmpty ? 0 : random.removeFirst()
            )
            steps.append(CallRecording.Replay.Step(event: entry.event, recorded: entry.action, decided: action.words))
        }
        return CallRecording.Replay(steps: steps)
    }
}
