import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

@testable import CurlTransport

/// Bodies over HTTP/2: the answers that come before the request is whole, and the readers that are slow.
///
/// libcurl 7.88 loses some of the first, and stalls some of the second: that is why `automatic` means HTTP/1.1 there.
@Suite(.enabled(if: TLSFront.isAvailable), .timeLimit(.minutes(30)))
struct HTTP2BodyTests {
    private static let runs = 200

    /// Runs in groups that share a connection, and gives what each led to.
    private static func outcomes(
        _ count: Int,
        atOnce: Int,
        _ work: @escaping @Sendable () async throws -> Int
    ) async -> [Result<Int, any Error>] {
        await withTaskGroup(of: Result<Int, any Error>.self) { group in
            var results: [Result<Int, any Error>] = []
            for index in 0..<count {
                if index >= atOnce, let result = await group.next() { results.append(result) }
                group.addTask {
                    do { return .success(try await work()) } catch { return .failure(error) }
                }
            }
            for await result in group { results.append(result) }
            return results
        }
    }

    /// Without Content-Length libcurl 8.14 does not tell a whole answer from one that was cut, if the connection is
    /// shared: the status is kept, and reading the body fails.
    @Test(arguments: [1, 8], [(false, true), (true, true), (false, false), (true, false)])
    func anEarlyAnswerIsKept(atOnce: Int, ending: (isFollowedByReset: Bool, statesLength: Bool)) async throws {
        let server = try HTTP2Server.start { _ in
            .init(
                status: "413",
                bodyLength: 9,
                statesLength: ending.statesLength,
                isEarly: true,
                isFollowedByReset: ending.isFollowedByReset
            )
        }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = CurlTransport.patient(.init(httpVersion: .http2, caFile: front.caFile))
        let request = HTTPRequest.to(front.authority, .post, scheme: "https")
        let isProven =
            CurlTransport.HTTPVersion.automatic.mayUseHTTP2
            && (ending.statesLength || atOnce == 1 || Libcurl.number >= 0x081300)
        let upload = [UInt8](repeating: 1, count: 1 << 20)
        let runs = isProven ? Self.runs : 10
        let results = await Self.outcomes(runs, atOnce: atOnce) {
            let (head, body) = try await transport.fetch(
                request,
                MessageBody(upload),
                timeout: isProven ? .seconds(300) : .seconds(3)
            )
            // 7.88 calls some of them whole whose bodies it has lost.
            #expect(body == "bbbbbbbbb" || !isProven)
            return head.status.code
        }
        for result in results {
            switch result {
            case .success(let status): #expect(status == 413)
            case .failure(let error):
                // Never taken for something that the server did not see.
                let certainty = (error as? TransportError)?.certainty
                #expect(!isProven, "\(error)")
                #expect(certainty == .unknown || certainty == .answered, "\(error)")
            }
        }
        withExtendedLifetime(front) {}
    }

    @Test
    func aSlowReaderGetsTheWholeBody() async throws {
        let length = 150_000
        let server = try HTTP2Server.start { _ in .init(bodyLength: length) }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = CurlTransport.patient(
            .init(httpVersion: .http2, caFile: front.caFile, maxBufferedBytes: 16_384)
        )
        let request = HTTPRequest.to(front.authority, scheme: "https")
        let isProven = CurlTransport.HTTPVersion.automatic.mayUseHTTP2
        let results = await Self.outcomes(isProven ? Self.runs : 10, atOnce: 4) {
            let options = AttemptOptions(timeout: isProven ? .seconds(300) : .seconds(3))
            let response = try await transport.send(request, body: nil, options: options)
            var count = 0
            for try await chunk in response.body {
                count += chunk.count
                for _ in 0..<20 { await Task.yield() }
            }
            return count
        }
        for result in results {
            switch result {
            case .success(let count): #expect(count == length)
            case .failure(let error): #expect(!isProven, "\(error)")
            }
        }
        withExtendedLifetime(front) {}
    }

    /// What libcurl keeps behind the pause is freed then, although others use the connection: the leak check tells.
    @Test(arguments: [false, true])
    func aPausedTransferEndsWhileOthersUseItsConnection(byItsTime: Bool) async throws {
        let server = try HTTP2Server.start { _ in .init(bodyLength: 1 << 20) }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = CurlTransport.patient(
            .init(httpVersion: .http2, caFile: front.caFile, maxBufferedBytes: 16_384)
        )
        let request = HTTPRequest.to(front.authority, scheme: "https")
        let kept = try await transport.send(request, body: nil, options: AttemptOptions())
        let time: Duration = byItsTime ? .seconds(1) : .seconds(86_400)
        for _ in 0..<4 {
            let end = ContinuousClock.now + time
            let ended = try await transport.send(request, body: nil, options: AttemptOptions(timeout: time))
            // Other requests on the same loop run their course: it is the fact that time has passed there.
            let other = try FaultServer(.answer(bytes: [UInt8](repeating: 1, count: 1 << 20)))
            repeat { _ = try await transport.fetch(.to(other.authority)) } while byItsTime && .now < end
            guard byItsTime else { continue }
            let error = await #expect(throws: TransportError.self) { for try await _ in ended.body {} }
            #expect(error?.code == .timedOut)
            #expect(error?.certainty == .answered)
        }
        #expect(server.connectionCount == 1)
        withExtendedLifetime((kept, front)) {}
    }
}
