import CAllocationCounter
import Dispatch
import HTTPRecovery
import HTTPTypes

/// Answers at once with the same response.
struct Immediate: HTTPTransport {
    let response: TransportResponse

    var name: String { "immediate" }
    var enforcesTimeouts: Bool { true }

    func send(_ request: HTTPRequest, body: HTTPBody?, options: AttemptOptions) async throws -> TransportResponse {
        response
    }
}

/// What one call costs.
struct Cost {
    var nanoseconds: Double
    var allocations: Double
}

/// Runs the call many times; the best of several rounds is the least disturbed.
func measure(rounds: Int, calls: Int, _ call: () async throws -> Void) async throws -> Cost {
    var best = Cost(nanoseconds: .infinity, allocations: 0)
    for _ in 0..<rounds {
        let before = allocation_count()
        let time = try await ContinuousClock().measure {
            for _ in 0..<calls { try await call() }
        }
        let nanoseconds = time / .nanoseconds(1) / Double(calls)
        if nanoseconds < best.nanoseconds {
            best = Cost(nanoseconds: nanoseconds, allocations: Double(allocation_count() - before) / Double(calls))
        }
    }
    return best
}

func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

/// Prints what the layers add to a call that succeeds.
func run() async throws {
    let rounds = 7
    let calls = Int(CommandLine.arguments.dropFirst().first ?? "") ?? 200_000
    let request = try HTTPRequest(url: "https://api.example.com/items")
    var head = HTTPResponse(status: .ok)
    head.headerFields[.contentType] = "application/json"
    let transport = Immediate(response: TransportResponse(head: head, body: HTTPBody("{\"id\":1}")))

    let bare = try await measure(rounds: rounds, calls: calls) {
        _ = try await transport.send(request, body: nil, options: AttemptOptions())
    }
    let clients: [(String, RecoveringClient)] = [
        ("no layers, judged", RecoveringClient(transport: transport) {}),
        ("Recovery alone", RecoveringClient(transport: transport) { Recovery() }),
        ("the default stack", RecoveringClient(transport: transport)),
    ]
    print("what a successful call costs (best of \(rounds) rounds of \(calls) calls; a transport that answers at once)")
    print(padded("", 22) + padded("ns", 10) + padded("added", 10) + padded("allocs", 10) + padded("added", 10))
    func row(_ name: String, _ cost: Cost) {
        func number(_ value: Double) -> String { String(Double((value * 10).rounded()) / 10) }
        print(
            name + String(repeating: " ", count: 22 - name.count) + padded(number(cost.nanoseconds), 10)
                + padded(number(cost.nanoseconds - bare.nanoseconds), 10) + padded(number(cost.allocations), 10)
                + padded(number(cost.allocations - bare.allocations), 10)
        )
    }
    row("the transport", bare)
    for (name, client) in clients {
        row(name, try await measure(rounds: rounds, calls: calls) { _ = try await client.send(request) })
    }
}

let done = DispatchSemaphore(value: 0)
Task.detached {
    do {
        try await run()
    } catch {
        print("failed: \(error)")
    }
    done.signal()
}
done.wait()
