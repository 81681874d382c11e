extension CallContext {
    /// Begins work that may outlive the call, as others take its result too, and that the end of the call's client waits for.
    ///
    /// - Parameter work: The work, in a task of its own.
    package func outlived(by work: @escaping @Sendable () async -> Void) {
        let openCalls = surroundings.openCalls
        // A call that is let end may begin it yet.
        let isCounted = openCalls.enter { count in count > 0 }
        Task {
            await work()
            if isCounted { openCalls.leave() }
        }
    }
}
