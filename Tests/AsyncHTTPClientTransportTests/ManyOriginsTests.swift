#if AsyncHTTPClient
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import NIOCore
import NIOPosix
import Testing

@testable import AsyncHTTPClientTransport

/// AsyncHTTPClient keeps a pool for each origin that a client has ever had; so no client gets origins without end.
@Suite(.timeLimit(.minutes(30)))
struct ManyOriginsTests {
    /// How many origins each client got of those that were asked for one after the other, again and again.
    private func shares(of origins: Int, rounds: Int, idleTime: Duration) async throws -> [Int] {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let pool = LoopPool(loop: loop, configuration: .init(maxIdleTime: idleTime))
        let counts = try await loop.submit {
            var clients: [PooledClient] = []
            for number in 0..<origins * rounds {
                let client = try pool.client(for: "http://origin\(number % origins)", isAlone: false)
                if clients.last !== client { clients.append(client) }
                pool.giveBack(client)
            }
            return clients.map(\.origins.count)
        }.get()
        // All of them have shut down then, or it would wait.
        await pool.shutDown()
        return counts
    }

    @Test
    func thoseThatAreNotUsedAnyMoreAreLetGo() async throws {
        let counts = try await shares(of: 2000, rounds: 1, idleTime: .zero)
        #expect(counts.count >= 15)
        #expect(counts.allSatisfy { $0 <= 128 })
        #expect(counts.reduce(0, +) == 2000)
    }

    @Test
    func thoseThatAreUsedKeepTheirConnections() async throws {
        #expect(try await shares(of: 2000, rounds: 3, idleTime: .seconds(86_400)) == [2000])
    }

    /// A response that is read slowly outlives its client's retirement.
    @Test
    func whoIsUnderWayIsNotDisturbed() async throws {
        let gate = FaultServer.Gate()
        defer { gate.open() }
        let begun = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"
        let server = try FaultServer { request in
            request.path == "/slow" ? .raw(begun).then(.wait(for: gate)).then(.raw("-last")) : .answer()
        }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let pool = LoopPool(loop: loop, configuration: .init(maxIdleTime: .nanoseconds(1)))
        func begin(_ path: String) async throws -> Transfer {
            let request = try EncodedRequest(.to(server.authority, .get, path), body: nil, decompresses: true)
            let transfer = Transfer(request: request, options: AttemptOptions(timeout: .seconds(86_400)), pool: pool)
            #expect(try await transfer.head().status == .ok)
            return transfer
        }
        let slow = try await begin("/slow")
        #expect(try await slow.nextBytes() == Array("first".utf8))
        let isRetired = try await loop.submit {
            let first = try pool.client(for: "http://origin", isAlone: false)
            pool.giveBack(first)
            for number in 0..<1000 { pool.giveBack(try pool.client(for: "http://origin\(number)", isAlone: false)) }
            return first.isRetired && first.uses == 1
        }.get()
        #expect(isRetired)
        let quick = try await begin("/")
        while try await quick.nextBytes() != nil {}
        gate.open()
        #expect(try await slow.nextBytes() == Array("-last".utf8))
        #expect(try await slow.nextBytes() == nil)
        await pool.shutDown()
    }
}
#endif
