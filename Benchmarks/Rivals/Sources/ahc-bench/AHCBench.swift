import AsyncHTTPClient
import BenchKit
import NIOCore
import NIOPosix
import NIOSSL

/// AsyncHTTPClient as a contestant: its asynchronous functions, one event loop as the other clients have, and a pool
/// that keeps as many connections as there are requests at a time.
struct AHCContestant: Contestant {
    private let client: HTTPClient
    private let group: MultiThreadedEventLoopGroup
    private let settings: Settings

    init(_ settings: Settings) throws {
        self.settings = settings
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = settings.mostAtATime
        configuration.connectionPool.idleTimeout = .minutes(10)
        // A server that is busy with thousands is not gone.
        configuration.timeout.connect = .seconds(120)
        configuration.httpVersion = settings.isHTTP2 ? .automatic : .http1Only
        if let caFile = settings.caFile {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(caFile)
            configuration.tlsConfiguration = tls
        }
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
    }

    func call(_ errand: Errand) throws -> Call {
        var prepared = HTTPClientRequest(url: errand.url)
        for (name, value) in Errand.fields { prepared.headers.add(name: name, value: value) }
        if let body = errand.body {
            prepared.method = .POST
            prepared.body = .bytes(ByteBuffer(string: body))
        }
        let (request, isStreamed) = (prepared, settings.isStreamed)
        return { [client] in
            let response = try await client.execute(request, timeout: .minutes(10))
            guard response.status == .ok else { throw Spoilt("status \(response.status.code)") }
            guard isStreamed else { return try await response.body.collect(upTo: 1 << 26).readableBytes }
            var count = 0
            for try await piece in response.body { count += piece.readableBytes }
            return count
        }
    }

    func shutdown() async throws {
        try await client.shutdown()
        try await group.shutdownGracefully()
    }
}

@main
enum AHCBench {
    static func main() async {
        await Program.main(AHCContestant.self)
    }
}
