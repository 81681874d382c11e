import HTTPRecovery

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A server of HTTP/3 in front of a plain one: Caddy, with a certificate made by openssl.
///
/// It speaks HTTP/1.1 and HTTP/2 at the same port. Each request goes to the plain server on a connection of its own, so that
/// nothing is sent there a second time.
package final class QUICFront: Sendable {
    package static let isAvailable = Program.isAvailable("caddy") && Program.isAvailable("openssl")

    package let port: Int
    package let caFile: String
    private let directory: String
    private let process: Program
    private let hasStopped = Locked(false)

    /// - Parameters:
    ///   - port: The plain server's port.
    ///   - hasQUIC: Whether it listens for HTTP/3 at all.
    package static func start(port: Int, hasQUIC: Bool = true) async throws -> QUICFront {
        try await Program.waiting {
            // Another may take the free port meanwhile.
            for _ in 0..<10 {
                if let front = try QUICFront(port: port, hasQUIC: hasQUIC) { return front }
            }
            throw TLSFront.Failure(what: "caddy does not serve")
        }
    }

    private init?(port plainPort: Int, hasQUIC: Bool) throws {
        let key: String
        (directory, caFile, key) = try TLSFront.makeCertificate(name: "IP:127.0.0.1")
        port = Self.freePort()
        let settings = """
            {"admin": {"disabled": true, "config": {"persist": false}},
             "logging": {"logs": {"default": {"writer": {"output": "stdout"}, "exclude": ["http", "tls"]}}},
             "storage": {"module": "file_system", "root": "\(directory)"},
             "apps": {
               "http": {"servers": {"front": {
                 "listen": ["127.0.0.1:\(port)"], "protocols": [\(hasQUIC ? #""h1", "h2", "h3""# : #""h1", "h2""#)],
                 "automatic_https": {"disable": true}, "tls_connection_policies": [{}],
                 "routes": [{"handle": [{
                   "handler": "reverse_proxy", "flush_interval": -1, "upstreams": [{"dial": "127.0.0.1:\(plainPort)"}],
                   "transport": {"protocol": "http", "keep_alive": {"enabled": false}}}]}]}}},
               "tls": {"certificates": {"load_files": [{"certificate": "\(caFile)", "key": "\(key)"}]}}}}
            """
        Files.write(Array(settings.utf8), to: "\(directory)/settings.json")
        process = try Program("caddy", ["run", "--config", "\(directory)/settings.json"])
        while let line = process.readLine() {
            if line.contains("serving initial configuration") { return }
        }
        // It has ended; nobody else will look after it.
        process.end()
        hasStopped.withLock { $0 = true }
        return nil
    }

    deinit {
        stop()
        for name in ["cert.pem", "key.pem", "settings.json"] { Files.remove("\(directory)/\(name)") }
        _ = unsafe rmdir(directory)
    }

    package var authority: String { "127.0.0.1:\(port)" }

    /// Ends it in the middle of whatever it does, without a word to anyone.
    package func stop() {
        let hasStopped = hasStopped.withLock { hasStopped in
            defer { hasStopped = true }
            return hasStopped
        }
        if !hasStopped { process.end() }
    }

    private static func freePort() -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Both calls take an address of any family; this is one of IPv4, and as long as is said.
        return unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                guard unsafe bind(descriptor, $0, length) == 0, unsafe getsockname(descriptor, $0, &length) == 0 else {
                    return 0
                }
                return unsafe Int(pointer.pointee.sin_port.bigEndian)
            }
        }
    }
}
