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
/// library crashes. What is under way then is not failed: the process is over.
package enum ProcessEnd {
    /// A thread that is taken in.
    package struct Thread: Hashable, Sendable {
        fileprivate let number: UInt
    }

    private struct State {
        var threads: [Thread: @Sendable () -> Void] = [:]
        /// Whose threads they are: a process that was forked off has none of them.
        var process = getpid()
        var hasBegun = false
    }

    private static let state = Locked(State())
    /// How often it is looked whether all stand still, in a second; who does not by then is not waited for.
    private static let looks = 5_000

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
            if state.process != getpid() { state = State() }
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
            if state.process != getpid() { state = State() }
            state.hasBegun = true
            return state.threads
        }
        for tell in threads.values { tell() }
        for _ in 0..<looks where isAnyAtWork { usleep(UInt32(1_000_000 / looks)) }
    }

    private static var current: Thread {
        #if canImport(Glibc)
        Thread(number: pthread_self())
        #else
        unsafe Thread(number: UInt(bitPattern: pthread_self()))
        #endif
    }
}
