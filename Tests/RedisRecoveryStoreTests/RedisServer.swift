#if Redis
import CHiredis
import Glibc
import HTTPRecovery
import ProcessSupport

@testable import RedisRecoveryStore

/// A real `redis-server` of the test's own, on a free port and a socket, without anything on disk.
///
/// It dies with the last reference to it, and with the test process, whatever becomes of that.
final class RedisServer: Sendable {
    struct Failure: Error {
        var what: String
    }

    /// Whether the program is installed; where it is not, this says so.
    static let isAvailable: Bool = {
        if (try? Child("redis-server", ["--version"]))?.waitForExit() == 0 { return true }
        print("!!! redis-server is not installed: the tests of the Redis store are SKIPPED (apt install redis-server)")
        return false
    }()

    private struct Running {
        var server: Child
        var guardian: Child
    }

    let port: Int
    let directory: TemporaryDirectory
    private let arguments: [String]
    private let password: RedisStore.Password?
    private let running = Locked<Running?>(nil)

    private init(
        port: Int,
        directory: TemporaryDirectory,
        arguments: [String],
        password: RedisStore.Password?
    ) {
        self.port = port
        self.password = password
        self.directory = directory
        self.arguments = arguments
    }

    /// Starts a server.
    static func start(
        _ extra: [String] = [],
        tls: Certificates? = nil,
        password: RedisStore.Password? = nil,
        file: String? = nil
    ) async throws -> RedisServer {
        let directory = TemporaryDirectory()
        if let file { Files.write(Array(file.utf8), to: directory.path + "/conf") }
        for _ in 0..<40 {
            // Another may take the port before the server does; then another is tried. Nodes of a cluster talk at the
            // one that is 10,000 above.
            let port = try freePort()
            guard port <= 55_000 || !extra.contains("--cluster-enabled") else { continue }
            var arguments = file == nil ? [] : [directory.path + "/conf"]
            arguments += [
                "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory.path,
                "--unixsocket", directory.path + "/s", "--loglevel", "warning",
            ]
            if let tls {
                arguments += [
                    "--port", "0", "--tls-port", "\(port)", "--tls-cert-file", tls.chainFile, "--tls-key-file",
                    tls.keyFile, "--tls-ca-cert-file", tls.caFile, "--tls-auth-clients", "no",
                ]
            } else {
                arguments += ["--port", "\(port)"]
            }
            let server = RedisServer(
                port: port,
                directory: directory,
                arguments: arguments + extra,
                password: password
            )
            if try await server.launch() { return server }
        }
        throw Failure(what: "redis-server does not start")
    }

    deinit {
        kill()
    }

    var socket: String { directory.path + "/s" }

    /// The process.
    var identifier: pid_t { running.withLock { $0?.server.identifier ?? 0 } }

    /// Stops the process: connections stay, nobody answers.
    func freeze() { _ = Glibc.kill(identifier, SIGSTOP) }

    /// Lets it go on.
    func thaw() { _ = Glibc.kill(identifier, SIGCONT) }

    /// Kills it; all its data is lost.
    func kill() {
        let present = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let present else { return }
        present.guardian.end()
        present.server.end()
    }

    /// Starts it again, empty, at the same port.
    func restart() async throws {
        kill()
        for _ in 0..<100 where try await launch() { return }
        throw Failure(what: "redis-server does not start again")
    }

    /// A connection of the test's own.
    func configuration(_ namespace: String = "test") -> RedisStore.Configuration {
        RedisStore.Configuration(endpoint: .tcp(host: "127.0.0.1", port: port), namespace: namespace, patient: true)
    }

    /// Asks the server itself, over its socket.
    func ask(_ words: String...) async throws -> Reply { try await ask(words) }

    func ask(_ words: [String]) async throws -> Reply {
        var command = Command()
        command.words = words.map { Array($0.utf8) }
        let configuration = RedisStore.Configuration(endpoint: .unix(path: socket), password: password, patient: true)
        let router = Router(configuration)
        do {
            let reply = try await router.ask(command)
            await router.stop()
            return reply
        } catch {
            await router.stop()
            throw error
        }
    }

    /// Whether bytes have reached its port that it has not read: it is frozen.
    var hasUnreadBytes: Bool {
        get throws {
            // A listening socket (0A) counts connections in place of bytes.
            try sockets().contains { $0.local == port && $0.state == "01" && $0.received > 0 }
        }
    }

    /// Whether this machine has an end of a connection to its port that was not closed.
    var hasClients: Bool {
        get throws { try sockets().contains { $0.remote == port && ["01", "08"].contains($0.state) } }
    }

    private func sockets() throws -> [(local: Int, remote: Int, state: String, received: Int)] {
        func last(_ field: Substring) -> Int { field.split(separator: ":").last.flatMap { Int($0, radix: 16) } ?? 0 }
        return try readLines("/proc/net/tcp").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 4 else { return nil }
            return (last(fields[1]), last(fields[2]), String(fields[3]), last(fields[4]))
        }
    }

    private func readLines(_ path: String) throws -> [Substring] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure(what: "\(path) cannot be read") }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    private func launch() async throws -> Bool {
        let server = try Child("redis-server", arguments)
        // Whoever holds the other end of its standard input is dead when the shell goes on.
        let guardian = try Child(
            "/bin/sh",
            ["-c", "read line; kill -9 \(server.identifier); rm -rf \"$1\"", "sh", directory.path]
        )
        running.withLock { $0 = Running(server: server, guardian: guardian) }
        while !server.hasExited() {
            if let reply = try? await ask("PING"), reply == .bytes(Array("PONG".utf8)) { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        kill()
        return false
    }

    private static func freePort() throws -> Int {
        let listener = try Listener()
        defer { listener.close() }
        return listener.port
    }
}

extension RedisStore.Configuration {
    /// With a timeout that a loaded machine keeps.
    init(
        endpoint: RedisStore.Endpoint,
        password: RedisStore.Password? = nil,
        namespace: String = "test",
        patient: Bool
    ) {
        self.init(endpoint: endpoint, password: password, namespace: namespace)
        if patient {
            connectTimeout = .seconds(600)
            commandTimeout = .seconds(600)
        }
    }
}

/// A listening socket of this machine at a free port.
struct Listener: Sendable {
    let socket: Int32
    let port: Int

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard unsafe bind(socket, pointer, size) == 0, listen(socket, 64) == 0 else { return Int32(-1) }
                return unsafe getsockname(socket, pointer, &size)
            }
        }
        guard result == 0 else { throw RedisServer.Failure(what: "no port") }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    func close() {
        Glibc.close(socket)
    }
}
#endif
