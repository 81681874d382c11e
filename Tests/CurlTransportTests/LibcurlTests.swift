import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import CurlTransport

/// What depends on the libcurl in use.
struct LibcurlTests {
    /// `Scripts/newer-curl` says which one it means.
    @Test
    func itIsTheOneThatIsMeant() {
        let version = CurlTransport.libcurlVersion
        let numbers = version.split(whereSeparator: { !$0.isNumber }).prefix(3).compactMap { UInt32($0) }
        #expect(numbers.reduce(0) { $0 << 8 | $1 } == Libcurl.number)
        guard let expected = unsafe getenv("EXPECTED_LIBCURL") else { return }
        let meant = unsafe String(cString: expected)
        #expect(version == meant)
    }

    /// Debian 12's libcurl has none.
    @Test
    func withoutHTTP3NothingIsSent() async throws {
        let version = CurlTransport.HTTPVersion.http3
        #expect(version.isAvailable == Libcurl.hasHTTP3)
        guard !version.isAvailable else { return }
        let server = try FaultServer(.answer())
        let error = try await CurlTransport.patient(.init(httpVersion: .http3))
            .failure(.to(server.authority, .post, scheme: "https"), MessageBody("x"))
        #expect(error.code == .misconfigured)
        #expect(error.certainty == .neverSent)
        #expect(!error.isTransient)
        #expect(server.connectionCount == 0)
    }

    /// libcurl's own bound is 300 KiB for all header sections of a response, from version 8.3 on, and in what Debian
    /// has made of earlier ones.
    @Test
    func headersPastLibcurlsOwnBoundAreTooLarge() async throws {
        let line = "X-Some: " + String(repeating: "a", count: 4000) + "\r\n"
        let server = try FaultServer(
            .raw("HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 100) + "Content-Length: 2\r\n\r\nok")
        )
        let transport = CurlTransport.patient(.init(maxHeaderBytes: 1 << 20))
        do {
            let (head, body) = try await transport.fetch(.to(server.authority))
            #expect(head.headerFields.count == 101)
            #expect(body == "ok")
            #expect(Libcurl.number < 0x080300)
        } catch let error as TransportError {
            #expect(error.code == .headersTooLarge, "\(error)")
            #expect(error.certainty == .answered)
            #expect(!error.isTransient)
        }
    }

    @Test
    func theOthersAreThere() {
        #expect(CurlTransport.HTTPVersion.automatic.isAvailable)
        #expect(CurlTransport.HTTPVersion.http1.isAvailable)
        #expect(CurlTransport.HTTPVersion.http2.isAvailable == Libcurl.hasHTTP2)
    }
}
