#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Constants that anybody reads, a value behind a lock, and the lock: in one place in memory, as each call has them.
///
/// Who holds one is sendable, though no compiler says so of a `ManagedBuffer`: the value is reached in ``withLock(_:)``
/// only, by one thread at a time. A value without a size, such as `()`, shares its address with the object's header, which
/// the thread sanitizer would take for a race: guard a `Bool` instead.
@safe
final class Guarded<Constants: Sendable, Value: Sendable>:
    ManagedBuffer<GuardedContents<Constants, Value>, pthread_mutex_t>
{
    static func make(_ constants: Constants, _ value: Value) -> Guarded {
        let buffer = unsafe create(minimumCapacity: 1) { buffer in
            unsafe buffer.withUnsafeMutablePointerToElements { unsafe $0.makeMutex() }
            return GuardedContents(constants: constants, value: value)
        }
        // What a class creates is of the class.
        return unsafe unsafeDowncast(buffer, to: Guarded.self)
    }

    deinit {
        unsafe withUnsafeMutablePointerToElements { unsafe $0.destroyMutex() }
    }

    /// Hands the constants to the function.
    @inline(__always)
    func read<Result>(_ body: (Constants) -> Result) -> Result {
        unsafe withUnsafeMutablePointerToHeader { unsafe body($0.pointee.constants) }
    }

    /// Hands the value to the function, and to nobody else meanwhile.
    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe withUnsafeMutablePointers { contents, mutex throws(Failure) in
            unsafe mutex.lock()
            defer { unsafe mutex.unlock() }
            return try unsafe body(&contents.pointee.value)
        }
    }
}

extension Guarded: CustomReflectable {
    /// A mirror without children: whoever prints what holds one does not print, unlocked, what is behind the lock.
    package var customMirror: Mirror {
        Mirror(self, children: EmptyCollection<Mirror.Child>(), ancestorRepresentation: .suppressed)
    }
}

/// What a ``Guarded`` holds.
struct GuardedContents<Constants: Sendable, Value: Sendable> {
    let constants: Constants
    var value: Value
}
