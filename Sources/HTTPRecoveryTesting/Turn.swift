import Glibc
import HTTPRecovery

/// A turn of all that is under way: it is over when each thread that runs tasks has come to another job, or sleeps.
///
/// To yield on one thread says nothing of the others: a busy machine may hold one of them back in the middle of its job. So
/// probes yield until there has been one on each thread that the kernel does not say is asleep.
enum Turn {
    /// The threads that have run a probe, with the kernel's numbers of them.
    private struct Threads {
        var numbers: [pthread_t: pid_t] = [:]
        /// Those that were waited for in vain, as they do one thing for long.
        var busy: Set<pthread_t> = []
    }

    /// How long a thread is waited for.
    private static let patience = Duration.milliseconds(100)
    /// After how many turns of its own a probe asks the kernel.
    private static let looks = 16
    private static let probes = max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    /// By the priority of the tasks that run on them: those of each have their own.
    private static let threads = Locked<[UInt8: Threads]>([:])

    /// Waits for the end of a turn that begins now.
    static func pass() async {
        let priority = Task.currentPriority.rawValue
        note(priority)
        let known = threads.withLock { $0[priority] ?? Threads() }
        let left = Locked(known.numbers.filter { !known.busy.contains($0.key) })
        // Until all threads are known, they are made to show themselves.
        if known.numbers.count >= probes, isOver(left, asksKernel: true) { return }
        let end = ContinuousClock.now + patience
        await withDiscardingTaskGroup { group in
            for _ in 0..<probes {
                group.addTask {
                    var looks = 0
                    repeat {
                        note(priority)
                        looks += 1
                        if isOver(left, asksKernel: looks.isMultiple(of: Self.looks)) { return }
                        await Task.yield()
                    } while !Task.isCancelled && ContinuousClock.now < end
                }
            }
        }
        let missing = left.withLock { $0 }
        if missing.isEmpty || Task.isCancelled { return }
        threads.withLock { $0[priority]?.busy.formUnion(missing.keys) }
    }

    /// Takes note of the present thread.
    private static func note(_ priority: UInt8) {
        let isKnown = threads.withLock { threads in
            threads[priority]?.busy.remove(pthread_self())
            return threads[priority]?.numbers[pthread_self()] != nil
        }
        if isKnown { return }
        let number = number
        threads.withLock { $0[priority, default: Threads()].numbers[pthread_self()] = number }
    }

    /// Takes the present thread off those that are waited for, and those that are asleep or no more.
    private static func isOver(_ left: Locked<[pthread_t: pid_t]>, asksKernel: Bool) -> Bool {
        left.withLock { left in
            left[pthread_self()] = nil
            if asksKernel { left = left.filter { isRunning($0.value) } }
            return left.isEmpty
        }
    }

    /// The kernel's number of the present thread; 0 where it does not say.
    private static var number: pid_t {
        var bytes = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink("/proc/thread-self", &bytes, bytes.count)
        let digits = bytes.prefix(max(0, count)).reversed().prefix { $0 != CChar(UInt8(ascii: "/")) }.reversed()
        return digits.reduce(0) { $0 &* 10 &+ pid_t($1) &- 48 }
    }

    /// Whether a thread runs, or would if it had a processor (proc(5)).
    private static func isRunning(_ thread: pid_t) -> Bool {
        guard let file = unsafe fopen("/proc/self/task/\(thread)/stat", "r") else { return false }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        // The name is in brackets, and may have some of its own; the state follows.
        guard let bracket = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), bracket + 2 < count else { return true }
        return bytes[bracket + 2] == UInt8(ascii: "R")
    }
}
