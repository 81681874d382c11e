import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import CurlTransport

/// Everything at once, at random: faults, cancellations, bodies that are left, shutdowns at any moment.
///
/// `SOAK_SECONDS=300` runs it for so long, and looks at what the process holds in between; it has to be the only test
/// then. Without it a few rounds show that every call ends.
@Suite(.timeLimit(.minutes(60)))
struct SoakTests {
    private static let seconds = unsafe getenv("SOAK_SECONDS").flatMap { unsafe Int(String(cString: $0)) }

    @Test
    func everyCallEndsAndNothingIsKept() async throws {
        var held: [Holdings] = []
        let end = ContinuousClock.now + .seconds(Self.seconds ?? 0)
        var round: UInt64 = 0
        repeat {
            try await Self.round(round)
            round += 1
            guard Self.seconds != nil, round.isMultiple(of: 50) else { continue }
            held.append(try await Holdings.now())
            print("soak: \(round) rounds of \(Self.calls) calls, \(held[held.count - 1])")
        } while round < 5 || .now < end
        guard held.count > 4 else { return }
        // The first part fills caches and pools; after that nothing grows.
        let (before, after) = (held[held.count / 3], held[held.count - 1])
        #expect(after.descriptors <= before.descriptors)
        #expect(after.threads <= before.threads)
        #expect(after.kibibytes <= before.kibibytes + before.kibibytes / 4)
    }

    private static let calls = 400

    /// A transport's life: many calls at a time, of which none is left when it has been shut down in the midst of them.
    private static func round(_ number: UInt64) async throws {
        let server = try server()
        var generator = SplitMix64(seed: number)
        let transport = CurlTransport.patient(
            .init(loops: 1 + Int(number % 2), maxConnectionsPerOrigin: .random(in: 1...40, using: &generator))
        )
        let ended = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<calls {
                let seed = number << 20 | UInt64(index)
                group.addTask {
                    await call(transport, server.authority, seed)
                    ended.withLock { $0 += 1 }
                }
            }
            let patience = Int.random(in: 0...calls, using: &generator)
            while ended.withLock({ $0 }) < patience { await Task.yield() }
            await transport.shutdown()
        }
        let late = await #expect(throws: TransportError.self) { try await transport.fetch(.to(server.authority)) }
        #expect(late?.code == .shutDown)
        // Where it has not read what it was sent it does not see that the client has gone.
        server.stop()
    }

    /// One call and what becomes of it; all that matters is that it ends, with one of the errors there are.
    private static func call(_ transport: CurlTransport, _ authority: String, _ seed: UInt64) async {
        let task = Task {
            var generator = SplitMix64(seed: seed)
            do {
                var options = AttemptOptions(timeout: .milliseconds(.random(in: 1...400, using: &generator)))
                options.isOnNewConnection = Int.random(in: 0..<8, using: &generator) == 0
                let body = self.body(&generator)
                let request = HTTPRequest.to(authority, body == nil ? .get : .post, "/\(seed % 1000)")
                let response = try await transport.send(request, body: body, options: options)
                try await read(response.body, &generator)
            } catch is CancellationError {
            } catch is TransportError {
            } catch is MessageBody.ReadError {
            } catch {
                Issue.record(error)
            }
        }
        var generator = SplitMix64(seed: ~seed)
        if Bool.random(using: &generator) {
            for _ in 0..<Int.random(in: 0...200, using: &generator) { await Task.yield() }
            task.cancel()
        }
        await task.value
    }

    private static func body(_ generator: inout SplitMix64) -> MessageBody? {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return MessageBody("a small one")
        case 1: return MessageBody([UInt8](repeating: 1, count: 200_000))
        case 2:
            // It ends, or it does not.
            let source = ChunkSource()
            for _ in 0..<4 { source.send("a chunk of a stream") }
            if Bool.random(using: &generator) { source.finish() }
            return MessageBody(once: source.stream)
        default: return nil
        }
    }

    private static func read(_ body: MessageBody, _ generator: inout SplitMix64) async throws {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: for try await _ in body {}
        case 1: for try await _ in body { break }
        case 2: break
        default: _ = try await body.collect(upTo: .random(in: 0...300_000, using: &generator))
        }
    }

    private static func server() throws -> FaultServer {
        let large = [UInt8](repeating: 7, count: 300_000)
        return try FaultServer(
            plan: { number in
                switch number % 20 {
                case 0: .reset(afterBytes: 10)
                case 1: .close(afterBytes: 40)
                case 2: .stall
                case 3: .answerWithoutReadingBodies
                default: .serve
                }
            },
            reply: { request in
                switch (Int(request.path.dropFirst()) ?? 0) % 16 {
                case 0: .stall
                case 1: .close
                case 2: .reset
                case 3: .shortBody
                case 4: .truncatedChunks
                case 5: .resetInBody
                case 6: .garbage
                case 7: .finInHeaders
                case 8: .raw("HTTP/1.1 200 OK\r\n\r\n").then(.endless("more and more"))
                case 9: .answer(413, headers: [("Connection", "close")], body: "too large")
                case 10, 11: .answer(bytes: large)
                default: .answer(body: "fine")
                }
            }
        )
    }

    /// What the process has of the system's.
    private struct Holdings: CustomStringConvertible {
        var descriptors = 0
        var threads = 0
        var kibibytes = 0

        static func now() async throws -> Holdings {
            // The threads of the last round are ending.
            try await Task.sleep(for: .seconds(1))
            var holdings = Holdings()
            holdings.descriptors = entries(of: "/proc/self/fd")
            holdings.threads = entries(of: "/proc/self/task")
            var usage = [CChar](repeating: 0, count: 256)
            if let file = unsafe fopen("/proc/self/statm", "r") {
                unsafe fgets(&usage, Int32(usage.count), file)
                unsafe fclose(file)
            }
            let pages = usage.split(separator: 32).dropFirst().first?.reduce(0) { $0 * 10 + Int($1) - 48 } ?? 0
            holdings.kibibytes = pages * Int(getpagesize()) / 1024
            return holdings
        }

        private static func entries(of path: String) -> Int {
            guard let directory = unsafe opendir(path) else { return 0 }
            defer { unsafe closedir(directory) }
            var count = 0
            while unsafe readdir(directory) != nil { count += 1 }
            return count
        }

        var description: String { "\(descriptors) descriptors, \(threads) threads, \(kibibytes) KiB" }
    }
}
