/// A value behind a lock, for short critical sections.
///
/// `Synchronization.Mutex` would do, were it not that the thread sanitizer does not see that lock on Linux and reports
/// races that are none; a pthread mutex it knows. Unchecked, because a ``Guarded`` is sendable.
package struct Locked<Value: Sendable>: @unchecked Sendable {
    private let guarded: Guarded<Void, Value>

    package init(_ value: Value) {
        guarded = .make((), value)
    }

    /// Hands the value to the function, and to nobody else meanwhile.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try guarded.withLock(body)
    }
}

extension Locked: CustomReflectable {
    /// A mirror without children: whoever prints what holds a lock does not print, unlocked, what is behind it.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
