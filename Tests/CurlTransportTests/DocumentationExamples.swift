import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The examples of the documentation stand here, compiled.
@Suite struct DocumentationExamples {
    @Test func sending() async throws {
        func send() async throws -> [UInt8] {
            let transport = CurlTransport(
                configuration: .init(maxConnectionsPerOrigin: 32, caFile: "/etc/ssl/own-ca.pem")
            )
            let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/v1/me")
            let response = try await transport.send(request, body: nil, options: AttemptOptions(timeout: .seconds(10)))
            let bytes = try await response.body.collect(upTo: 1 << 20)
            await transport.shutdown()
            return bytes
        }
        // It names a server that is none of ours.
        _ = send
    }

    /// Compiled alone, for the same reason.
    private func recovering() async throws {
        let client = RecoveringClient(transport: CurlTransport())
        let response = try await client.send(HTTPRequest(url: "https://api.example.com/items"))
        print(response.status, try await response.body.collect(upTo: 1 << 20).count, "bytes")
        for attempt in response.history.attempts { print(attempt.number, attempt.kind.rawValue) }
    }

    private func recording() async throws {
        try await CassetteTransport.withFile("Fixtures/prices.json", recording: CurlTransport()) { transport in
            let client = RecoveringClient(transport: transport)
            print(try await client.send(HTTPRequest(url: "https://shop.example.com/prices")).status)
        }
    }

    @Test func certificates() async throws {
        let secretFromTheVault = "open sesame"
        var configuration = CurlTransport.Configuration()
        configuration.tls.authorities = .file("/etc/ssl/own-ca.pem")
        configuration.tls.clientCertificate = .files(
            chain: "/etc/ssl/client.pem",
            key: "/etc/ssl/client-key.pem",
            passphrase: CurlTransport.TLS.Passphrase(secretFromTheVault)
        )
        configuration.tls.minimumVersion = .tls13
        let transport = CurlTransport(configuration: configuration)
        await transport.shutdown()
    }

    @Test func pins() {
        var configuration = CurlTransport.Configuration()
        let now = CurlTransport.TLS.PublicKeyPin("sha256//AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        let spare = CurlTransport.TLS.PublicKeyPin("sha256//Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=")
        configuration.tls.pinnedPublicKeys = Set([now, spare].compactMap { $0 })
        #expect(configuration.tls.pinnedPublicKeys.count == 2)
    }

    @Test func elsewhere() {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .url(
            "http://user:password@proxy.example:3128",
            except: ["internal.example", "10.0.0.0/8"]
        )
        configuration.unixSocketPath = "/var/run/docker.sock"
        configuration.connectionOverrides = [.init(from: "api.example.com:443", to: "127.0.0.1:8443")]
        #expect("\(configuration.proxy)" == "http://proxy.example:3128")
    }

    @Test func trailers() async throws {
        let raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Digest: d\r\n\r\n"
        let server = try FaultServer(.raw(raw))
        let client = RecoveringClient(transport: CurlTransport())
        let request = HTTPRequest.to(server.authority)
        let response = try await client.send(request)
        let bytes = try await response.body.collect(upTo: 1 << 20)
        let checksum = response.trailers?[.contentDigest]
        #expect(bytes.isEmpty && checksum == "d")
    }

    @Test func metrics() async throws {
        let server = try FaultServer(.answer())
        let request = HTTPRequest.to(server.authority)
        var configuration = CurlTransport.Configuration()
        configuration.reportsMetrics = true
        let client = RecoveringClient(transport: CurlTransport(configuration: configuration))
        let response = try await client.send(request)
        if let metrics = response.metrics, let firstByte = metrics.firstByte {
            print("\(firstByte) on a \(metrics.isConnectionReused == true ? "used" : "new") connection")
        }
        #expect(response.metrics?.firstByte != nil)
    }
}

extension HTTPField.Name {
    fileprivate static var contentDigest: HTTPField.Name { HTTPField.Name("Content-Digest") ?? .eTag }
}
