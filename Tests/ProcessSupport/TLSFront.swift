import HTTPRecovery

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A TLS server in front of a plain one: a few lines of Python, and a certificate made by openssl.
///
/// Where either program is missing, the tests that need it are skipped.
package final class TLSFront: Sendable {
    package static let isAvailable = Program.isAvailable("openssl") && Program.isAvailable("python3")

    package struct Failure: Error {
        package let what: String
    }

    package let port: Int
    package let caFile: String
    package let keyFile: String
    private let directory: String
    private let process: Program

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
        process = try Program(
            "python3",
            [
                "-c", Self.script, caFile, keyFile, String(plainPort), protocols.joined(separator: ","), settings,
                String(handshakes),
            ]
        )
        guard let port = process.readLine().flatMap({ Int($0) }) else { throw Failure(what: "no TLS server") }
        self.port = port
    }

    deinit {
        process.end()
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

    private static let script = """
        import socket, ssl, sys, threading
        cert, key, port, protocols, settings, handshakes = sys.argv[1:]
        silent = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        context.set_alpn_protocols(protocols.split(","))
        # Whether the end of a connection is announced (close_notify), which most servers do.
        announces = False
        # What is answered as soon as a request's head is there; the connection is closed then, and its body is not read.
        early = None
        # The port of the server for connections that resume a session; None for the same.
        resumed = None
        exec(settings)
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        print(listener.getsockname()[1], flush=True)
        def copy(source, sink):
            try:
                while data := source.recv(65536):
                    sink.sendall(data)
            except OSError:
                pass
            for end in (source, sink):
                try:
                    if announces and isinstance(end, ssl.SSLSocket):
                        end.unwrap()
                except (OSError, ValueError):
                    pass
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        def serve(client):
            client = context.wrap_socket(client, server_side=True, do_handshake_on_connect=False)
            try:
                client.do_handshake()
            except OSError:
                # What is unread would reset the connection, and the client might not get to the alert.
                try:
                    while socket.socket.recv(client, 65536):
                        pass
                except OSError:
                    pass
                return
            if early:
                head = b""
                while b"\\r\\n\\r\\n" not in head and (data := client.recv(1024)):
                    head += data
                # What waits for an acknowledgement goes when the connection is reset.
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                client.sendall(early)
                client.close()
                return
            try:
                target = resumed if resumed and client.session_reused else int(port)
                plain = socket.create_connection(("127.0.0.1", target))
            except OSError:
                return
            threading.Thread(target=copy, args=(plain, client), daemon=True).start()
            copy(client, plain)
        for count in range(int(handshakes)):
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        while True:
            silent.append(listener.accept()[0])
        """
}

/// A child process with its standard output on a pipe.
struct Program: Sendable {
    private let identifier: pid_t
    private let output: Int32

    static func isAvailable(_ name: String) -> Bool {
        (try? Program(name, ["--help"]))?.waitForExit() != nil
    }

    init(_ name: String, _ arguments: [String]) throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw TLSFront.Failure(what: "no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        unsafe InheritedFiles.close(in: &actions)
        var pointers = unsafe ([name] + arguments).map { unsafe strdup($0) } + [nil]
        var identifier: pid_t = 0
        let result = unsafe posix_spawnp(&identifier, name, &actions, nil, &pointers, environ)
        for index in unsafe pointers.indices { unsafe free(pointers[index]) }
        unsafe posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        output = ends[0]
        guard result == 0 else {
            close(ends[0])
            throw TLSFront.Failure(what: "\(name) does not start")
        }
        self.identifier = identifier
    }

    /// Runs what waits for programs on a thread of its own: the concurrency pool has few, and all tests need them.
    package static func waiting<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            _ = SystemThread.run { continuation.resume(with: Result { try body() }) }
        }
    }

    func readLine() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(output, &byte, 1) == 1, byte != 10 { bytes.append(byte) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// The exit status.
    @discardableResult
    func waitForExit() -> Int32 {
        var byte: UInt8 = 0
        while unsafe read(output, &byte, 1) == 1 {}
        var status: Int32 = 0
        _ = unsafe waitpid(identifier, &status, 0)
        close(output)
        return status
    }

    func end() {
        // The child inherits the blocked signals of a dispatch thread; this one cannot be blocked.
        kill(identifier, SIGKILL)
        waitForExit()
    }
}
