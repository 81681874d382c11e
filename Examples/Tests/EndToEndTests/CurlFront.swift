import Glibc
import Testing

/// What stands before the server of the table of curl's habits: the ends of TLS, and a unix-domain socket.
///
/// What it needs, a certificate that signs itself with its key, lies in the working directory of the rows: `cert.pem`, `key.pem`
/// and both of them in `both.pem`.
struct CurlFront: Sendable {
    private static let python = "/usr/bin/env"

    /// Whether the programs are there that it is made of.
    static let isAvailable = ["python3", "openssl"].allSatisfy { name in
        let places = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""
        return places.split(separator: ":").contains { unsafe access("\($0)/\(name)", X_OK) == 0 }
    }

    /// What the words of a row stand for.
    let words: [(word: String, value: String)]

    private let program: BuiltProgram

    /// The words that a row needs it for.
    static let ends = ["SECURE", "MUTUAL", "OLD", "SOCKET", "CERTIFICATE", "BOTH", "DIGEST"]

    /// Makes a certificate and starts.
    ///
    /// - Parameters:
    ///   - port: The port of the server.
    ///   - directory: The working directory of the row.
    init(before port: Int, in directory: String) async throws {
        let place = directory + "/front"
        try #require(unsafe mkdir(place, 0o700) == 0)
        program = try BuiltProgram(Self.python, ["python3", "-c", Self.script, "\(port)", directory], in: place)
        var lines: [Substring] = []
        while lines.count < 4 {
            try await Task.sleep(for: .milliseconds(5))
            let errors = contents(of: place + "/err")
            try #require(errors.isEmpty, "\(errors)")
            lines = program.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        }
        let ports = lines.prefix(3).map { "https://127.0.0.1:\($0)" }
        words = [
            ("SECURE", ports[0]), ("MUTUAL", ports[1]), ("OLD", ports[2]), ("SOCKET", "front/socket"),
            ("CERTIFICATE", "cert.pem"), ("BOTH", "both.pem"), ("DIGEST", String(lines[3])),
        ]
    }

    /// Ends it.
    func stop() {
        program.signal(SIGKILL)
    }

    private static let script = """
        import os, socket, ssl, subprocess, sys, threading
        port, directory = int(sys.argv[1]), sys.argv[2]
        cert, key = directory + "/cert.pem", directory + "/key.pem"
        def openssl(*words, **more):
            return subprocess.run(("openssl",) + words, check=True, capture_output=True, **more).stdout
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert)
        with open(directory + "/both.pem", "w") as both:
            both.write(open(cert).read() + open(key).read())
        public = openssl("pkey", "-pubin", "-outform", "der", input=openssl("x509", "-in", cert, "-pubkey", "-noout"))
        digest = openssl("base64", input=openssl("dgst", "-sha256", "-binary", input=public)).decode().strip()
        def context(mutual=False, old=False):
            made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            made.load_cert_chain(cert, key)
            made.set_alpn_protocols(["http/1.1"])
            if mutual:
                made.load_verify_locations(cert)
                made.verify_mode = ssl.CERT_REQUIRED
            if old:
                made.maximum_version = ssl.TLSVersion.TLSv1_2
            return made
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
        def serve(client, secure):
            try:
                if secure:
                    client = secure.wrap_socket(client, server_side=True, do_handshake_on_connect=False)
                    try:
                        client.do_handshake()
                    except ssl.SSLError:
                        # A reset would race with the alert: it is the client that hangs up.
                        while os.read(client.fileno(), 65536):
                            pass
                        raise
                plain = socket.create_connection(("127.0.0.1", port))
            except OSError:
                return
            threading.Thread(target=copy, args=(plain, client), daemon=True).start()
            copy(client, plain)
        def accept(listener, secure):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0], secure), daemon=True).start()
        def listen(listener, secure):
            listener.listen(64)
            threading.Thread(target=accept, args=(listener, secure), daemon=True).start()
        for secure in (context(), context(mutual=True), context(old=True)):
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
            listen(listener, secure)
            print(listener.getsockname()[1])
        local = socket.socket(socket.AF_UNIX)
        os.chdir(directory + "/front")
        local.bind("socket")
        listen(local, None)
        print(digest, flush=True)
        threading.Event().wait()
        """
}
