@testable import HTTPRecovery

/// Processes that share a gate and a lease through a store, as one value.
///
/// What a process makes of an answer, when it asks, and what the store does is decided by the code itself:
/// ``InMemoryRecoveryStore/State``, ``StoreLink/State``, ``StoreOutage``. What is asked is on its way for any time, in either
/// direction. The rest is what may be relied on, by the promises.
struct SharingModel {
    /// What the processes do.
    enum Topic: Hashable {
        /// They close a gate, come to it and, maybe, open it before its time.
        case gates(areOpened: Bool)
        case leases
    }

    /// What may happen in one history besides what is meant to, how often; `Int.max` is any number of times.
    struct Faults: Hashable {
        var crashes = 0
        /// Questions to the store that are lost, or their answers, or that come when nobody waits any more.
        var losses = 0
        /// How often the store is started again, empty.
        var oblivions = 0
        /// How often time passes while something is asked, because who asks it is stopped, or the way is long.
        var stops = 0
        /// How often a clock is set by a second, forward or back, that of a process or of the store.
        var steps = 0
    }

    /// What a caller within a process wants.
    enum Task: Hashable {
        case attempt
        case close(SharedState.Gate)
        case open
        case acquire
        case extend(SharedState.Lease)
        case release(SharedState.Lease)
    }

    /// What the store is asked; times are told as spans.
    enum Question: Hashable {
        case probe, read
        case close(SharedState.Gate, span: Duration)
        case open
        case acquire
        case extend(SharedState.Lease)
        case release(SharedState.Lease)
    }

    enum Reply: Hashable {
        case done
        case gate(SharedState.Gate, left: Duration)
        case noGate
        case lease(SharedState.Lease?)
        case extended(Bool)
    }

    struct Call {
        var task: Task
        var begunAt: Int64
        /// The process's wall time then.
        var wall: Timestamp
        /// What the process knew to be closed then.
        var known: [SharedState.Gate] = []
        /// In which epoch the store is asked; nil while it is tried whether it is back.
        var epoch: UInt64?
        /// What the store is told while it is tried.
        var write: StoreOutage.Write?
        var question = Question.probe
        /// On its way back.
        var reply: Reply?
        /// Until when the process knows that it must not go, and until when the store does.
        var knownEnd: Int64 = 0
        var sharedEnd: Int64 = 0
        /// Whether somebody opens the gate at the same time: nobody can tell which was first.
        var meetsOpening = false
        /// Whether the store has lost since what it has answered.
        var isForgotten = false
    }

    struct Process {
        var memory = InMemoryRecoveryStore.State(limit: 4)
        var link = StoreLink.State(store: "explored")
        /// By how much its wall clock is wrong.
        var skew: Int64
        var call: Call?
        /// Whether its connection is broken, which it learns when it asks.
        var isCut = false
        var lease: SharedState.Lease?
        /// Until when it has been told by the server, or by the store, to wait.
        var gateEnd: Int64 = 0
        /// Until when the store has granted it the lease, as it has been told.
        var leaseEnd: Int64 = 0
        /// Until when it takes itself for the holder.
        var believedEnd: Int64 = 0
    }

    struct Store {
        var state = InMemoryRecoveryStore.State(limit: 4)
        /// By how much its clock is wrong.
        var skew: Int64 = 0
        /// A question that comes when nobody waits for the answer any more.
        var late: Question?
        /// Who has asked it, and gives back a lease that is granted; nil if that one is gone.
        var lateAsker: Int?
        /// Until when the gate is to stay closed, by those who were told that the store knows.
        var gateEnd: Int64 = 0
        /// The last lease, and when it ends by the store's clock.
        var fence: UInt64 = 0
        var leaseEnd: Int64 = 0
    }

    let topic: Topic
    var faults: Faults
    /// By how much clocks may have been set.
    var allowance: Int64 = 0
    /// Late enough that what ends at 0 has ended.
    var time: Int64 = 1000
    var processes: [Process]
    var store = Store()
    /// Whether this is the end, at which all was well.
    var isOver = false
    /// What has happened last.
    var event = "at first"
    /// What must never be, and is.
    var violations: [String] = []

    static let span: Int64 = 10
    /// How much time passes at once: what is granted ends when it has passed twice, to the second.
    static let tick: Int64 = 5
    static let name = "renewal"
    static let key = SharedState.Gate.Key(
        scope: .origin,
        origin: Origin(scheme: "https", authority: "a.example")
    )

    init(_ topic: Topic, _ faults: Faults, processes count: Int = 3) {
        (self.topic, self.faults) = (topic, faults)
        // Their clocks differ by hours, which no host has to know.
        processes = (0..<count).map { Process(skew: 3600 * Int64($0 - 1)) }
    }

    // MARK: What may happen

    /// Every state that may come next.
    var successors: [SharingModel] {
        if isOver { return [] }
        var result: [SharingModel] = []
        let codes = processes.map { code(of: $0) }
        // Processes that are alike do the same.
        for p in processes.indices where !codes[..<p].contains(codes[p]) {
            if let call = processes[p].call {
                if call.reply == nil {
                    send(p, "asks", to: &result)
                } else {
                    after("\(p) is answered") { $0.receive(p) }.send(p, "is answered", to: &result)
                    if faults.losses > 0 { result.append(after("\(p)'s answer is lost") { $0.lose(p) }) }
                }
            } else {
                for task in tasks(of: processes[p]) {
                    after("") { $0.begin(p, task) }.send(p, task.word, to: &result)
                }
            }
            if faults.crashes > 0 { result.append(after("\(p) crashes") { $0.crash(p) }) }
            for step in [1, -1] as [Int64] where faults.steps > 0 {
                result.append(after("\(p)'s clock is set by \(step) s") { $0.setClock(p, by: step) })
            }
        }
        if store.late != nil { result.append(after("what was late is heard") { $0.hearLate() }) }
        let isAsked = store.late != nil || processes.contains { $0.call != nil }
        if !isAsked || faults.stops > 0 { result.append(after("time passes") { $0.pass(isAsked: isAsked) }) }
        if faults.oblivions > 0 { result.append(after("the store starts empty") { $0.forget() }) }
        for step in [1, -1] as [Int64] where faults.steps > 0 {
            result.append(after("the store's clock is set by \(step) s") { $0.setClock(nil, by: step) })
        }
        if !isAsked { result.append(after("all is well from now on") { $0.settle() }) }
        return result
    }

    private func after(_ event: @autoclosure () -> String, _ change: (inout SharingModel) -> Void) -> SharingModel {
        var next = self
        next.event = event()
        change(&next)
        return next
    }

    /// What may become of a question that a process puts in this state; nothing else happens before it is heard, unless it
    /// is on its way for long.
    private func send(_ p: Int, _ word: String, to result: inout [SharingModel]) {
        guard let call = processes[p].call, call.reply == nil else {
            return result.append(after("\(p) \(word)") { _ in })
        }
        result.append(after("\(p) \(word)") { $0.hear(p) })
        if faults.stops > 0 { result.append(after("\(p) \(word), which takes its time") { _ in }) }
        if faults.losses > 0 { result.append(after("\(p) \(word), which is lost") { $0.lose(p) }) }
        if store.late != nil { return }
        if faults.losses > 0 {
            result.append(
                after("\(p) \(word), and waits no longer") {
                    $0.store.late = call.question
                    $0.store.lateAsker = p
                    $0.lose(p)
                }
            )
        }
        if faults.crashes > 0 {
            result.append(
                after("\(p) \(word), and crashes") {
                    $0.store.late = call.question
                    $0.crash(p)
                }
            )
        }
    }

    private func tasks(of process: Process) -> [Task] {
        switch topic {
        case .gates(let areOpened):
            let opensAt = wallTime(of: process).advanced(by: .seconds(Self.span))
            let gate = SharedState.Gate(key: Self.key, reason: .rateLimited, opensAt: opensAt)
            return [.attempt, .close(gate)] + (areOpened ? [.open] : [])
        case .leases:
            // Another caller of the same process may ask while one holds the lease.
            return [.acquire] + (process.lease.map { [.extend($0), .release($0)] } ?? [])
        }
    }

    static func spend(_ budget: inout Int) {
        if budget != .max { budget -= 1 }
    }

    private mutating func lose(_ p: Int) {
        Self.spend(&faults.losses)
        fail(p)
    }

    /// What is asked is heard and answered before, or not at all, unless somebody is stopped.
    private mutating func pass(isAsked: Bool) {
        if isAsked { Self.spend(&faults.stops) }
        time += Self.tick
    }

    private mutating func setClock(_ number: Int?, by step: Int64) {
        Self.spend(&faults.steps)
        allowance += 1
        if let number { processes[number].skew += step } else { store.skew += step }
    }

    private mutating func crash(_ p: Int) {
        Self.spend(&faults.crashes)
        if store.lateAsker == p { store.lateAsker = nil }
        // Its clock was set meanwhile.
        processes[p] = Process(skew: processes[p].skew + 7200)
    }

    /// The store loses all but the count of its fences, which goes by the time; so does whoever was connected.
    private mutating func forget() {
        Self.spend(&faults.oblivions)
        store.state.gates = [:]
        store.state.leases = [:]
        (store.gateEnd, store.leaseEnd) = (0, 0)
        (store.late, store.lateAsker) = (nil, nil)
        for p in processes.indices {
            processes[p].isCut = true
            processes[p].leaseEnd = 0
            processes[p].call?.sharedEnd = 0
            processes[p].call?.isForgotten = true
            // What was answered may still come.
            if processes[p].call != nil, processes[p].call?.reply == nil { fail(p) }
        }
    }

    // MARK: Times

    func wallTime(of process: Process) -> Timestamp {
        Timestamp(secondsSinceEpoch: 1_800_000_000 + time + process.skew)
    }

    var instant: TimeSource.Instant { TimeSource.Instant(sinceStart: .seconds(time)) }

    var storeTime: Int64 { time + store.skew }
}

extension SharingModel.Task {
    var word: String {
        switch self {
        case .attempt: "attempts"
        case .close: "closes"
        case .open: "opens"
        case .acquire: "acquires"
        case .extend: "extends"
        case .release: "releases"
        }
    }
}
