import HTTPRecovery

/// Starts the processes that end TLS: one interpreter, which has loaded what they need, forks for each.
///
/// An interpreter that starts takes a quarter of a second of a processor, and tests want thousands of servers.
enum TLSFronts {
    private static let interpreter = Locked<Program?>(nil)

    /// Starts one.
    ///
    /// - Parameter request: What the script below reads.
    static func start(_ request: JSONValue) throws -> (process: Int, port: Int) {
        try interpreter.withLock { interpreter in
            let program = try interpreter ?? Program("python3", ["-c", script], hasInput: true)
            interpreter = program
            program.write(line: request.description)
            let numbers = (program.readLine() ?? "").split(separator: " ").compactMap { Int($0) }
            guard numbers.count == 2, numbers[1] > 0 else { throw TLSFront.Failure(what: "no TLS server") }
            return (numbers[0], numbers[1])
        }
    }

    /// Ends one, and its connections with it.
    static func end(_ process: Int) {
        interpreter.withLock { interpreter in
            interpreter?.write(line: #"{"end": \#(process)}"#)
            _ = interpreter?.readLine()
        }
    }

    private static let script = """
        import json, os, signal, socket, ssl, sys, threading
        children = set()
        def end(child):
            children.discard(child)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        while line := sys.stdin.readline():
            request = json.loads(line)
            if "end" in request:
                end(request["end"])
                print("ended", flush=True)
                continue
            told, tells = os.pipe()
            child = os.fork()
            if child == 0:
                break
            children.add(child)
            os.close(tells)
            print(child, (os.read(told, 16) or b"0").decode(), flush=True)
            os.close(told)
        else:
            # Whoever runs the tests is gone.
            for child in list(children):
                end(child)
            sys.exit()
        # The child, which has one server to be.
        os.close(0)
        cert, key, port, protocols, settings, handshakes = (
            request[name] for name in ("cert", "key", "port", "protocols", "settings", "handshakes"))
        silent = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        context.set_alpn_protocols(protocols)
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
        os.write(tells, b"%d" % listener.getsockname()[1])
        os.close(tells)
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
