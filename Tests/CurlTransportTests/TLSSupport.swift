import Foundation

/// A TLS server in front of a plain one: a few lines of Python, and a certificate made by openssl.
///
/// Where either program is missing, the tests that need it are skipped.
final class TLSFront: Sendable {
    static let isAvailable = program("openssl") != nil && program("python3") != nil

    let port: Int
    let caFile: String
    private let process: Process
    private let directory: URL

    /// - Parameters:
    ///   - port: The plain server's port.
    ///   - protocols: What ALPN offers.
    ///   - name: The certificate's subject alternative name.
    init(port plainPort: Int, protocols: [String] = ["http/1.1"], name: String = "IP:127.0.0.1") throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        caFile = directory.appendingPathComponent("cert.pem").path
        let keyFile = directory.appendingPathComponent("key.pem").path
        let openssl = try Self.start(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=test", "-addext", "subjectAltName=\(name)", "-keyout", keyFile, "-out", caFile,
            ]
        ).process
        openssl.waitUntilExit()
        let python = try Self.start(
            "python3",
            ["-c", Self.script, caFile, keyFile, String(plainPort), protocols.joined(separator: ",")]
        )
        process = python.process
        var line = Data()
        while let byte = try python.output.fileHandleForReading.read(upToCount: 1), byte != Data([10]) { line += byte }
        port = Int(String(decoding: line, as: UTF8.self)) ?? 0
    }

    deinit {
        process.terminate()
        try? FileManager.default.removeItem(at: directory)
    }

    var authority: String { "127.0.0.1:\(port)" }

    private static func program(_ name: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private static func start(_ name: String, _ arguments: [String]) throws -> (process: Process, output: Pipe) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program(name) ?? name)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        return (process, output)
    }

    private static let script = """
        import socket, ssl, sys, threading
        cert, key, port, protocols = sys.argv[1:]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        context.set_alpn_protocols(protocols.split(","))
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        print(listener.getsockname()[1], flush=True)
        def copy(source, sink):
            try:
                while data := source.recv(65536):
                    sink.sendall(data)
            except OSError:
                pass
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        def serve(client):
            try:
                client = context.wrap_socket(client, server_side=True)
                plain = socket.create_connection(("127.0.0.1", int(port)))
            except OSError:
                return
            threading.Thread(target=copy, args=(plain, client), daemon=True).start()
            copy(client, plain)
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """
}
