#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A thread of its own for work that blocks, such as reading and flushing files: one piece after the other.
///
/// Neither a thread of the concurrency runtime nor an event loop is held up by a slow disk. The thread is started where
/// there is work and none runs, and ends with it. Unchecked, because the state is reached with the mutex held only.
@safe package final class SerialThread: @unchecked Sendable {
    /// The one for small files, shared by all who keep some.
    package static let files = SerialThread()

    private var work: [@Sendable () -> Void] = []
    private var isRunning = false
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        _ = unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deinitialize(count: 1)
        unsafe mutex.deallocate()
    }

    /// Runs the function on the thread, and waits for its end even where the caller is cancelled: what has arrived is
    /// stored, and a piece of work is short.
    ///
    /// - Throws: What the function throws.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            enqueue { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Runs the function on the thread, some time.
    func enqueue(_ piece: @escaping @Sendable () -> Void) {
        _ = unsafe pthread_mutex_lock(mutex)
        if !isRunning { isRunning = start() }
        // Where the system has no thread left, the caller's has to do.
        let hasThread = isRunning
        if hasThread { work.append(piece) }
        _ = unsafe pthread_mutex_unlock(mutex)
        if !hasThread { piece() }
    }

    private func start() -> Bool {
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let result = unsafe pthread_create(
            &thread,
            nil,
            { context in
                ThreadSignals.leaveToProgram()
                #if canImport(Darwin)
                unsafe Unmanaged<SerialThread>.fromOpaque(context).takeRetainedValue().loop()
                #else
                if let context = unsafe context {
                    unsafe Unmanaged<SerialThread>.fromOpaque(context).takeRetainedValue().loop()
                }
                #endif
                return nil
            },
            context
        )
        guard result == 0 else {
            unsafe Unmanaged<SerialThread>.fromOpaque(context).release()
            return false
        }
        #if canImport(Darwin)
        if let thread { pthread_detach(thread) }
        #else
        pthread_detach(thread)
        #endif
        return true
    }

    private func loop() {
        while true {
            _ = unsafe pthread_mutex_lock(mutex)
            let pieces = work
            work = []
            isRunning = !pieces.isEmpty
            _ = unsafe pthread_mutex_unlock(mutex)
            if pieces.isEmpty { return }
            for piece in pieces { piece() }
        }
    }
}
