import BenchKit
import CurlTransport
import Dispatch
import HTTPRecovery
import HTTPTypes

/// `CurlTransport` as a contestant.
///
/// The command line is that of all, and beside it
///
/// - `stack=bare|default`: the transport alone, or a `RecoveringClient` around it (default);
/// - `executor=default|loop`: where the calling tasks run.
struct CurlContestant: Contestant {
    private let transport: CurlTransport
    /// Nil is the transport alone.
    private let client: RecoveringClient?
    private let settings: Settings

    init(_ settings: Settings) {
        self.settings = settings
        transport = CurlTransport(
            configuration: .init(
                maxConnectionsPerOrigin: settings.mostAtATime,
                httpVersion: settings.isHTTP2 ? .http2 : .http1,
                caFile: settings.caFile,
                // A server that is busy with thousands is not gone.
                connectTimeout: .seconds(120)
            )
        )
        switch (settings["stack"], settings.scenario) {
        case ("bare", _): client = nil
        // The default layers, whose times would end what is held on purpose while everything is slow.
        case (_, .flight),
            (_, _) where settings.idle > 0:
            client = RecoveringClient(transport: transport) {
                Deadline(.seconds(900))
                Recovery()
                AttemptTimeout(.seconds(600))
            }
        default: client = RecoveringClient(transport: transport)
        }
    }

    var executor: (any TaskExecutor)? { settings["executor"] == "loop" ? transport.taskExecutor : nil }

    func call(_ errand: Errand) throws -> Call {
        var prepared = try HTTPRequest(url: errand.url)
        if errand.body != nil { prepared.method = .post }
        for (name, value) in Errand.fields {
            guard let name = HTTPField.Name(name) else { throw Spoilt("\(name) is no name") }
            prepared.headerFields.append(HTTPField(name: name, value: value))
        }
        let (request, body) = (prepared, errand.body.map { MessageBody($0) })
        let isStreamed = settings.isStreamed
        if let client {
            return {
                let response = try await client.send(request, body: body)
                return try await Self.read(response.body, response.head, isStreamed: isStreamed)
            }
        }
        return { [transport] in
            let options = AttemptOptions(timeout: .seconds(600))
            let response = try await transport.send(request, body: body, options: options)
            return try await Self.read(response.body, response.head, isStreamed: isStreamed)
        }
    }

    private static func read(_ body: MessageBody, _ head: HTTPResponse, isStreamed: Bool) async throws -> Int {
        guard head.status == .ok else { throw Spoilt("status \(head.status.code)") }
        guard isStreamed else { return try await body.collect(upTo: 1 << 26).count }
        var count = 0
        for try await piece in body { count += piece.count }
        return count
    }

    func shutdown() async {
        await transport.shutdown()
    }
}

@main
enum TransportBench {
    static func main() {
        Task.detached { await Program.main(CurlContestant.self) }
        // Valgrind does not survive an asynchronous main.
        DispatchSemaphore(value: 0).wait()
    }
}
