import HTTPRecovery

/// A value behind a lock, as `Locked` is: generic code of this module, which the compiler makes for each value anew.
///
/// Unchecked, because the value is reached in ``withLock(_:)`` only, by one thread at a time.
final class Protected<Value: Sendable>: @unchecked Sendable {
    private var value: Value
    private let mutex = SystemMutex.make()

    init(_ value: Value) {
        self.value = value
    }

    /// Hands the value to the function, and to nobody else meanwhile.
    @inline(__always)
    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        mutex.lock()
        defer { mutex.unlock() }
        return try body(&value)
    }
}

extension Protected: CustomReflectable {
    /// A mirror without children: whoever prints what holds a lock does not print, unlocked, what is behind it.
    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
