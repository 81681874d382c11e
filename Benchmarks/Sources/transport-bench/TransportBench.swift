import CurlTransport
import Glibc
import HTTPRecovery
import HTTPTypes

/// Sends GETs from many tasks and prints requests per CPU-second and per second.
///
/// usage: transport-bench PORT CONCURRENCY REQUESTS [default|loop]
@main
enum TransportBench {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4, let concurrency = Int(arguments[2]), let total = Int(arguments[3]) else { exit(64) }
        let transport = CurlTransport(configuration: .init(maxConnectionsPerOrigin: concurrency))
        let request = HTTPRequest(
            method: .get,
            scheme: "http",
            authority: "127.0.0.1:\(arguments[1])",
            path: "/bench",
            headerFields: [.userAgent: "bench", .accept: "application/json"]
        )
        let executor = arguments.count > 4 && arguments[4] == "loop" ? transport.taskExecutor : nil
        let cpuBefore = cpuSeconds()
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<concurrency {
                let share = total / concurrency + (worker < total % concurrency ? 1 : 0)
                group.addTask(executorPreference: executor) {
                    for _ in 0..<share {
                        let options = AttemptOptions(timeout: .seconds(30))
                        let response = try await transport.send(request, body: nil, options: options)
                        let bytes = try await response.body.collect(upTo: 1 << 20)
                        precondition(response.head.status == .ok && bytes.count == 200)
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = (ContinuousClock.now - start).inSeconds
        print(Int(Double(total) / (cpuSeconds() - cpuBefore)), Int(Double(total) / seconds))
        await transport.shutdown()
    }

    static func cpuSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let micros = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(micros) / 1e6
    }
}
