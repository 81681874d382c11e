import HTTPRecovery

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A TLS server in front of a plain one, a process of its own with a certificate made by openssl.
///
/// Where Python or openssl is missing, the tests that need them are skipped.
package final class TLSFront: Sendable {
    package static let isAvailable = Program.isAvailable("openssl") && Program.isAvailable("python3")

    package struct Failure: Error {
        package let what: String
    }

    package let port: Int
    package let caFile: String
    package let keyFile: String
    private let directory: String
    private let process: Int

    /// - Parameters:
    ///   - port: The plain server's port.
    ///   - protocols: What ALPN offers.
    ///   - name: The certificate's subject alternative name.
    ///   - settings: Lines of Python about the `context`, separated by semicolons; `cert` is the certificate's path.
    ///   - handshakes: How many connections get an answer; further ones are accepted, and left alone.
    package static func start(
        port: Int,
        protocols: [String] = ["http/1.1"],
        name: String = "IP:127.0.0.1",
        settings: String = "",
        handshakes: Int = 1_000_000
    ) async throws -> TLSFront {
        try await Program.waiting {
            try TLSFront(port: port, protocols: protocols, name: name, settings: settings, handshakes: handshakes)
        }
    }

    private init(port plainPort: Int, protocols: [String], name: String, settings: String, handshakes: Int) throws {
        (directory, caFile, keyFile) = try Self.makeCertificate(name: name)
        (process, port) = try TLSFronts.start([
            "cert": .string(caFile), "key": .string(keyFile), "port": .number(.init(plainPort)),
            "protocols": .array(protocols.map { .string($0) }), "settings": .string(settings),
            "handshakes": .number(.init(handshakes)),
        ])
    }

    deinit {
        TLSFronts.end(process)
        for path in [caFile, keyFile, encryptedKeyFile] { _ = unsafe unlink(path) }
        _ = unsafe rmdir(directory)
    }

    package var authority: String { "127.0.0.1:\(port)" }

    /// A directory with a new certificate that signs itself, and its key.
    static func makeCertificate(name: String) throws -> (directory: String, certificate: String, key: String) {
        var template = Array("/tmp/tls-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw Failure(what: "no temporary directory") }
        let directory = template.dropLast().reduce(into: "") { $0.unicodeScalars.append(Unicode.Scalar(UInt8($1))) }
        let (certificate, key) = ("\(directory)/cert.pem", "\(directory)/key.pem")
        let openssl = try Program(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=test", "-addext", "subjectAltName=\(name)", "-keyout", key, "-out", certificate,
            ]
        )
        guard openssl.waitForExit() == 0 else { throw Failure(what: "openssl made no certificate") }
        return (directory, certificate, key)
    }

    private var encryptedKeyFile: String { "\(directory)/encrypted.pem" }

    /// The path of the key, encrypted.
    package func encryptKey(_ passphrase: String) async throws -> String {
        let arguments = ["pkey", "-in", keyFile, "-aes256", "-passout", "pass:\(passphrase)", "-out", encryptedKeyFile]
        let status = try await Program.waiting { try Program("openssl", arguments).waitForExit() }
        guard status == 0 else { throw Failure(what: "openssl encrypted no key") }
        return encryptedKeyFile
    }

    /// The certificate's public key as the documentation says to get it.
    package func pin() async throws -> String {
        let command = """
            openssl x509 -in \(caFile) -pubkey -noout | openssl pkey -pubin -outform der \
                | openssl dgst -sha256 -binary | openssl base64
            """
        let line = try await Program.waiting {
            let shell = try Program("sh", ["-c", command])
            let line = shell.readLine()
            shell.waitForExit()
            return line
        }
        guard let line else { throw Failure(what: "openssl made no digest") }
        return line
    }
}
