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
        ledger.resolve()
        let port = try #require(ConnectionLedger.localPort(of: ended))
        var byte: UInt8 = 0
        ledger.endReceiving(port: 1)
        #expect(unsafe recv(ended, &byte, 1, Int32(MSG_DONTWAIT)) == -1, "nothing has come")
        ledger.endReceiving(port: port)
        #expect(unsafe recv(ended, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
        #expect(unsafe recv(other, &byte, 1, Int32(MSG_DONTWAIT)) == -1, "the other lives on")
        let request = Array("GET /sent HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        #expect(unsafe send(ended, request, request.count, Int32(MSG_NOSIGNAL)) == request.count)
        #expect(try await server.requests(count: 1).map(\.path) == ["/sent"])
        // Of two sockets with one port neither is known.
        ledger.opened(ended)
        ledger.resolve()
        #expect(!ledger.isAlive(port: port))
    }
}
