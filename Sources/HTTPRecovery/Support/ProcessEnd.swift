#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The end of the process, for threads that use what it takes away, such as OpenSSL: they stand still before.
///
/// `exit` runs what libraries have left for the end while all threads go on, and a thread that finds itself without its
/// library crashes. Nobody is told that anything has failed: the process is over.
package enum ProcessEnd {
    /// A thread that is taken in.
    package struct Thread: Hashable, Sendable {
        fileprivate let number: UInt
    }

    private struct State {
        var threads: [Thread: @Sendable () -> Void] = [:]
        var hasBegun = false
    }

    private static let state = Locked(State())
    /// Whoever does not stand still by then is not waited for.
    private static let patience: Duration = .seconds(1)

    /// Sees to what has been set up until now: what is set up later is taken away before.
    package static func comesBeforeThatOfLibraries() {
        atexit { ProcessEnd.begin() }
    }

    /// Takes in the thread that calls.
    ///
    /// - Parameter tell: Has the thread call ``standStill(_:)`` soon; it is called on another one.
    package static func enter(_ tell: @escaping @Sendable () -> Void) -> Thread {
        let thread = current
        let hasBegun = state.withLock { state in
            if !state.hasBegun { state.threads[thread] = tell }
            return state.hasBegun
        }
        if hasBegun { standStill(thread) }
        return thread
    }

    /// Lets the thread end by itself.
    package static func leave(_ thread: Thread) {
        state.withLock { $0.threads[thread] = nil }
    }

    /// Whether a thread is taken in, and does not stand still.
    package static var isAnyAtWork: Bool { state.withLock { !$0.threads.isEmpty } }

    /// The end of a thread that was told.
    package static func standStill(_ thread: Thread) -> Never {
        leave(thread)
        while true { pause() }
    }

    private static func begin() {
        // A thread that ends the process itself does nothing else meanwhile.
        leave(current)
        let threads = state.withLock { state in
            state.hasBegun = true
            return state.threads
        }
        for tell in threads.values { tell() }
        let deadline = Monotonic.deadline(after: patience)
        while isAnyAtWork, Monotonic.now() < deadline { usleep(200) }
    }

    private static var current: Thread {
        #if canImport(Glibc)
        Thread(number: pthread_self())
        #else
        unsafe Thread(number: UInt(bitPattern: pthread_self()))
        #endif
    }
}
