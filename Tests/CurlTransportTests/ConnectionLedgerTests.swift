import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import CurlTransport

/// What the loop knows of its connections.
@Suite(.timeLimit(.minutes(30)))
struct ConnectionLedgerTests {
    /// As it is done where nothing more is taken from a server that has broken HTTP/2's rules.
    @Test
    func aConnectionWhoseReceivingEndsReadsAsClosedAndStillSends() async throws {
        let server = try FaultServer(.answer())
        let address = try #require(SocketAddress(listening: server.authority))
        let (ended, other) = (try address.connect(), try address.connect())
        defer { for socket in [ended, other] { close(socket) } }
        for socket in [ended, other] {
            var descriptor = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
            #expect(unsafe poll(&descriptor, 1, 60_000) == 1)
        }
        var ledger = ConnectionLedger()
        for socket in [ended, other] { ledger.opened(socket) }
        let ends = try [ended, other].map { try #require(ConnectionLedger.ends(of: $0)) }
        var byte: UInt8 = 0
        ledger.endReceiving(ended)
        #expect(
            unsafe recv(ended, &byte, 1, Int32(MSG_DONTWAIT)) == -1,
            "nothing has come, and nothing has gone out on it yet"
        )
        #expect(!ledger.isAlive(ended))
        #expect(ledger.socket(of: ends[0], likely: ended) == ended)
        #expect(ledger.socket(of: ends[1], likely: ended) == other)
        #expect(ledger.isAlive(ended))
        ledger.endReceiving(ended)
        #expect(unsafe recv(ended, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
        #expect(unsafe recv(other, &byte, 1, Int32(MSG_DONTWAIT)) == -1, "the other lives on")
        let request = Array("GET /sent HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        #expect(unsafe send(ended, request, request.count, Int32(MSG_NOSIGNAL)) == request.count)
        #expect(try await server.requests(count: 1).map(\.path) == ["/sent"])
        ledger.closed(ended)
        #expect(!ledger.isAlive(ended), "what is closed may be somebody else's")
    }
}
