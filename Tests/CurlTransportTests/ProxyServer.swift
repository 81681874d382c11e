import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes

/// A proxy in front of servers on this machine, spoken to as SOCKS 5 (RFC 1928, RFC 1929) or by CONNECT.
struct ProxyServer: Sendable {
    enum Kind: Sendable {
        case socks
        case connect
    }

    private let server: FaultServer

    /// The URL's authority.
    var authority: String { server.authority }

    var connectionCount: Int { server.connectionCount }
    /// What was asked for, such as `origin.example:443`, with the credentials that came along.
    var asked: [String] { server.receivedRequests.map { "\($0.path) \($0.headers[.proxyAuthorization] ?? "-")" } }

    /// - Parameters:
    ///   - kind: What it speaks.
    ///   - credentials: What it asks for, as `user:password`; nil for nothing.
    ///   - target: The port to which it leads every connection.
    init(_ kind: Kind, credentials: String? = nil, target: Int) throws {
        server = try FaultServer(
            plan: { _ in
                .raw { connection in
                    let isOpen =
                        switch kind {
                        case .socks: Self.openSOCKS(connection, credentials)
                        case .connect: Self.openTunnel(connection, credentials)
                        }
                    guard isOpen, let address = SocketAddress(listening: "127.0.0.1:\(target)"),
                        let socket = try? address.connect()
                    else { return }
                    _ = fcntl(socket, F_SETFL, 0)
                    Self.join(connection, socket)
                }
            },
            reply: { _ in .answer() }
        )
    }

    private static func record(_ connection: FaultServer.Connection, _ place: String, _ credentials: String?) {
        var request = FaultServer.Request(method: "", path: place, connection: connection.id)
        request.headers[.proxyAuthorization] = credentials
        connection.record(request)
    }

    private static func openSOCKS(_ connection: FaultServer.Connection, _ credentials: String?) -> Bool {
        guard let head = connection.read(exactly: 2), head[0] == 5,
            let methods = connection.read(exactly: Int(head[1]))
        else { return false }
        let method: UInt8 = credentials == nil ? 0 : 2
        guard methods.contains(method) else {
            connection.write([5, 0xff])
            return false
        }
        connection.write([5, method])
        var given: String?
        if let credentials {
            guard let count = connection.read(exactly: 2)?.last, let user = connection.read(exactly: Int(count)),
                let length = connection.read(exactly: 1)?.first, let word = connection.read(exactly: Int(length))
            else { return false }
            given = String(decoding: user + [0x3a] + word, as: UTF8.self)
            connection.write([1, given == credentials ? 0 : 1])
            guard given == credentials else { return false }
        }
        guard let request = connection.read(exactly: 4), let count = connection.read(exactly: 1)?.first else {
            return false
        }
        // An address of four or sixteen bytes, or a name with its length in front.
        let length = [1: 3, 3: Int(count), 4: 15][request[3]]
        guard let length, let rest = connection.read(exactly: length), let port = connection.read(exactly: 2) else {
            return false
        }
        let address = ([count] + rest).map { "\($0)" }.joined(separator: ".")
        let host = request[3] == 3 ? String(decoding: rest, as: UTF8.self) : address
        record(connection, "\(host):\(Int(port[0]) << 8 | Int(port[1]))", given)
        return connection.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    }

    private static func openTunnel(_ connection: FaultServer.Connection, _ credentials: String?) -> Bool {
        var bytes: [UInt8] = []
        while bytes.suffix(4) != [13, 10, 13, 10] {
            guard let byte = connection.read(exactly: 1) else { return false }
            bytes += byte
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        let field = lines.first { $0.hasPrefix("Proxy-Authorization: ") }?.dropFirst("Proxy-Authorization: ".count)
        guard words.count == 3, words[0] == "CONNECT" else { return false }
        record(connection, String(words[1]), field.map(String.init))
        if let credentials, field.map(String.init) != "Basic " + Base64.encode(credentials.utf8) {
            connection.write(Array("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n".utf8))
            return false
        }
        return connection.write(Array("HTTP/1.1 200 Go on\r\n\r\n".utf8))
    }

    /// Carries bytes both ways until one side ends.
    private static func join(_ connection: FaultServer.Connection, _ socket: Int32) {
        let done = FaultServer.Gate()
        _ = SystemThread.run {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = unsafe read(socket, &buffer, buffer.count)
                guard count > 0, connection.write(Array(buffer[..<count])) else { break }
            }
            connection.close()
            done.open()
        }
        while let bytes = connection.read() {
            // The bytes are the array's, which lives until the call has returned.
            guard unsafe send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { break }
        }
        _ = shutdown(socket, Int32(SHUT_RDWR))
        done.wait()
        close(socket)
    }
}
