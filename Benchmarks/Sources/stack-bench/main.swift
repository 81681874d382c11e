import CCounters
import Dispatch
import Glibc
import HTTPRecovery
import HTTPTypes

// usage: stack-bench [--check] [CALLS]
//
// Prints what the layers add to a call: time, allocations and instructions of one that succeeds at once, and the heap
// that one holds while it waits. With --check it ends with status 1 where the default stack is above a `Limit`.

/// Measures the ways to send, the bare transport first.
func measure(calls: Int) async throws -> [(name: String, cost: Cost)] {
    let request = try HTTPRequest(url: "https://api.example.com/items")
    var head = HTTPResponse(status: .ok)
    head.headerFields[.contentType] = "application/json"
    let response = TransportResponse(head: head, body: MessageBody("{\"id\":1}"))

    func sending(by client: RecoveringClient) -> Call {
        { _ = try await client.send(request) }
    }
    var settings = RecoveringClient.Settings.standard
    settings.breaker = .init()
    let guarded = settings
    let ways: [(name: String, make: (any HTTPTransport) -> Call)] = [
        ("the transport", { transport in { _ = try await transport.send(request, body: nil, options: .init()) } }),
        ("no layers, judged", { sending(by: RecoveringClient(transport: $0) {}) }),
        ("Recovery alone", { sending(by: RecoveringClient(transport: $0) { Recovery() }) }),
        ("the default stack", { sending(by: RecoveringClient(transport: $0)) }),
        ("with a breaker", { sending(by: RecoveringClient(transport: $0) { guarded.layers() }) }),
    ]
    let (rounds, waiting) = (5, 10_000)
    print("What a call costs: at a transport that answers at once (the best of \(rounds) rounds of \(calls) calls),")
    print("and in bytes while it waits for its answer, as one of \(waiting).\n")
    var measured: [(name: String, cost: Cost)] = []
    for way in ways {
        let cost = try await Cost(rounds: rounds, calls: calls, waiting: waiting, response: response, make: way.make)
        measured.append((way.name, cost))
    }
    return measured
}

/// Prints what was measured, and what each adds to the first.
func show(_ measured: [(name: String, cost: Cost)]) {
    let values: [KeyPath<Cost, Double>] = [\.nanoseconds, \.allocations, \.instructions, \.bytes]
    let titles = ["ns", "allocs", "instrs", "bytes"].flatMap { [$0, "added"] }
    print(Table.row("", titles))
    for (name, cost) in measured {
        let cells = values.flatMap { value in
            [cost[keyPath: value], cost[keyPath: value] - measured[0].cost[keyPath: value]].map(Table.number)
        }
        print(Table.row(name, cells))
    }
}

/// Compares what a stack adds with the limits, in a table.
///
/// - Returns: Whether it is within all of them.
func check(_ stack: (name: String, cost: Cost), addedTo bare: Cost) -> Bool {
    print("\n" + Table.row("\(stack.name) adds", ["measured", "limit", "aim"]))
    var isWithin = true
    for limit in Limit.all {
        let added = stack.cost[keyPath: limit.value] - bare[keyPath: limit.value]
        // What is left of single allocations after so many calls is rounded off.
        let isAbove = limit.isInForce && (added * 10).rounded() / 10 > limit.most
        let verdict: String
        switch (limit.isInForce, added.isFinite) {
        case (false, _): verdict = "not checked: the limit is another processor's"
        case (_, false): verdict = "not checked: not available"
        default: verdict = isAbove ? "ABOVE THE LIMIT" : "within"
        }
        print(Table.row(limit.name, [added, limit.most, limit.aim].map(Table.number)) + "  " + verdict)
        isWithin = isWithin && !isAbove
    }
    if !isWithin { print("\nA call costs more than it may: see Benchmarks/Sources/stack-bench/Limit.swift.") }
    return isWithin
}

/// Does what the command line says and returns the status to end with.
func run(calls: Int, isCheck: Bool) async -> Int32 {
    do {
        let measured = try await measure(calls: calls)
        show(measured)
        guard isCheck, let bare = measured.first else { return 0 }
        let isWithin = measured.suffix(2).map { check($0, addedTo: bare.cost) }
        return isWithin.allSatisfy(\.self) ? 0 : 1
    } catch {
        print("failed: \(error)")
        return 1
    }
}

// Before there are other threads: what is counted is this one and those that come from it.
let obstacle = start_counting_instructions()
if obstacle != 0 { print("Instructions: not available (\(String(cString: strerror(obstacle)))).\n") }
let arguments = CommandLine.arguments.dropFirst()
let isCheck = arguments.contains("--check")
let calls = arguments.lazy.compactMap { Int($0) }.first ?? 50_000
Task.detached { exit(await run(calls: calls, isCheck: isCheck)) }
// Valgrind does not survive an asynchronous main.
DispatchSemaphore(value: 0).wait()
