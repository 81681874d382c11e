/// The calls of a client that are under way, and whether it takes more.
typealias OpenCalls = InFlight

extension OpenCalls {
    /// Takes note of a call that begins; false if none is taken any more.
    ///
    /// - Parameter operation: What it is part of. An operation that has begun here is let end, and so is a renewal for
    ///   which calls wait that are under way here.
    func enter(within operation: RecoveryOperation?) -> Bool {
        enter { count in
            guard let operation else { return false }
            return operation.home === self || (operation.isForACall && count > 0)
        }
    }
}
