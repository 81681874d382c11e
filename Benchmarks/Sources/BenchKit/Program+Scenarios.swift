import CMeasure
import Synchronization

extension Program {
    /// Processor time of a request, how many a second, and what is allocated if that is counted.
    func load() async throws {
        let call = try client.call(Errand(url: settings.url))
        var held: [Task<Double, any Error>] = []
        if settings.idle > 0 { held = try await hold(settings.idle, client.call(Errand(url: settings.idleURL))) }
        if settings.warmup > 0 { try await run(call, requests: settings.warmup) }
        let (allocations, bytes) = (counted_allocations(), counted_bytes())
        let (cpu, time) = (cpu_seconds(), monotonic_seconds())
        try await run(call, requests: settings.requests)
        let (cpuAfter, timeAfter) = (cpu_seconds(), monotonic_seconds())
        let count = Double(settings.requests)
        Self.show("cpu_us", (cpuAfter - cpu) * 1e6 / count)
        Self.show("per_second", count / (timeAfter - time))
        if allocations >= 0 {
            Self.show("allocations", Double(counted_allocations() - allocations) / count)
            Self.show("bytes", Double(counted_bytes() - bytes) / count)
        }
        if !held.isEmpty { try await release(held[...]) }
    }

    /// Memory of a request in flight, processor time of all while nothing happens, time from cancelling to returning.
    func flight() async throws {
        // What the first request brings with it is not the others' doing.
        guard try await client.call(Errand(url: settings.idleURL))() == settings.bytes else {
            throw Spoilt("another size")
        }
        let before = resident_bytes()
        let tasks = try await hold(settings.concurrency, client.call(Errand(url: settings.url)))
        Self.show("bytes_each", Double(resident_bytes() - before) / Double(settings.concurrency))

        // What the beginning leaves to be done is not the idle ones' doing.
        try await Task.sleep(for: .seconds(1))
        let cpu = cpu_seconds()
        try await Task.sleep(for: .seconds(settings.seconds))
        Self.show("idle_ms_per_s", (cpu_seconds() - cpu) * 1e3 / Double(settings.seconds))

        var times: [Double] = []
        let cancelled = min(200, tasks.count / 2)
        for task in tasks.prefix(cancelled) {
            let start = monotonic_seconds()
            task.cancel()
            times.append(try await task.value - start)
        }
        guard times.allSatisfy({ $0 > 0 }) else { throw Spoilt("a cancelled request was answered") }
        times.sort()
        Self.show("cancel_us", times[times.count / 2] * 1e6)
        Self.show("cancel_worst_us", (times.last ?? 0) * 1e6)
        try await release(tasks.dropFirst(cancelled))
    }

    private func release(_ tasks: ArraySlice<Task<Double, any Error>>) async throws {
        // What was cancelled may hang on at the server for a moment.
        let answered = ask_server(Int32(settings.port), "/release")
        guard answered >= tasks.count else { throw Spoilt("\(answered) requests instead of \(tasks.count) were held") }
        for task in tasks { _ = try await task.value }
    }

    /// Processor time of a request among many at once without a connection.
    func burst() async throws {
        let call = try client.call(Errand(url: settings.url))
        let cpu = cpu_seconds()
        try await run(call, requests: settings.concurrency)
        Self.show("cpu_us", (cpu_seconds() - cpu) * 1e6 / Double(settings.concurrency))
    }

    /// How often the server sees a POST whose connection it closes instead of answering.
    func post() async throws {
        let warm = try client.call(Errand(url: settings.idleURL))
        let spend = try client.call(Errand(url: settings.url, body: "{\"amount\":1}"))
        _ = try await warm()
        let before = ask_server(Int32(settings.port), "/seen")
        // Some never return from it.
        let isOver = Flag()
        Task {
            _ = try? await spend()
            isOver.set()
        }
        let end = monotonic_seconds() + 10
        while !isOver.isSet, monotonic_seconds() < end { try await Task.sleep(for: .milliseconds(10)) }
        Self.show("seen", Double(ask_server(Int32(settings.port), "/seen") - before))
    }

    /// Time from cancelling to returning during a name lookup, and to the answer of another request that begins then.
    func lookup() async throws {
        guard slow_lookups() >= 0 else { throw Spoilt("the slow resolver is not loaded") }
        let other = try client.call(Errand(url: settings.url))
        _ = try await other()
        var (returns, answers) = ([Double](), [Double]())
        for number in 0..<settings.requests {
            let call = try client.call(Errand(url: "http://name\(number).slow.invalid/"))
            let task = Task<Double, Never>(executorPreference: client.executor) {
                _ = try? await call()
                return monotonic_seconds()
            }
            let end = monotonic_seconds() + 60
            while slow_lookups() <= number {
                guard monotonic_seconds() < end else { throw Spoilt("the name is not looked up") }
                try await Task.sleep(for: .milliseconds(1))
            }
            let start = monotonic_seconds()
            task.cancel()
            _ = try await other()
            answers.append(monotonic_seconds() - start)
            returns.append(await task.value - start)
        }
        returns.sort()
        answers.sort()
        Self.show("cancel_us", returns[returns.count / 2] * 1e6)
        Self.show("cancel_worst_us", (returns.last ?? 0) * 1e6)
        Self.show("next_us", answers[answers.count / 2] * 1e6)
        Self.show("next_worst_us", (answers.last ?? 0) * 1e6)
    }
}

private final class Flag: Sendable {
    private let state = Atomic(false)

    var isSet: Bool { state.load(ordering: .acquiring) }

    func set() { state.store(true, ordering: .releasing) }
}
