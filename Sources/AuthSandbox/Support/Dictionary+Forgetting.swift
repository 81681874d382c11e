extension Dictionary {
    /// Forgets once there is too much: what is not worth keeping, and everything if that is not enough.
    ///
    /// - Parameters:
    ///   - capacity: How much there may be.
    ///   - isWorthKeeping: Whether a value is still needed.
    mutating func forget(over capacity: Int, keeping isWorthKeeping: (Value) -> Bool) {
        if count > capacity { self = filter { isWorthKeeping($0.value) } }
        if count > capacity { self = [:] }
    }
}
