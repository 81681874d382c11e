/// Answers callbacks before the sign-in looks at them: those of unknown types, those that this library cannot answer
/// on Linux (a captcha, a device profile), and any that an app wants to answer in its own way.
public protocol JourneyCallbackResponder: Sendable {
    /// Answers a callback by setting its inputs.
    ///
    /// - Parameters:
    ///   - callback: The callback.
    ///   - step: The step that it is part of.
    /// - Returns: Whether it is answered; false leaves it to the sign-in. What the sign-in does not know goes back
    ///   untouched.
    func answer(_ callback: inout JourneyCallback, in step: JourneyStep) async throws -> Bool
}

/// Leaves everything to the sign-in.
public struct NoJourneyCallbackResponder: JourneyCallbackResponder {
    /// Creates the responder.
    public init() {}

    /// Answers nothing.
    public func answer(_ callback: inout JourneyCallback, in step: JourneyStep) -> Bool { false }
}

/// Asks one responder, then another.
struct JourneyCallbackResponders: JourneyCallbackResponder {
    let first: any JourneyCallbackResponder
    let second: any JourneyCallbackResponder

    func answer(_ callback: inout JourneyCallback, in step: JourneyStep) async throws -> Bool {
        if try await first.answer(&callback, in: step) { return true }
        return try await second.answer(&callback, in: step)
    }
}
