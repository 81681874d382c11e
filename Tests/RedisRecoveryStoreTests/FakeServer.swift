#if Redis
import Glibc
import HTTPRecovery

@testable import RedisRecoveryStore

/// A server of the test's own that says whatever it is told to: a text for the sign-in, and one for every command.
final class FakeServer: Sendable {
    let listener: Listener
    private let count = Locked(0)
    private let heard = Locked<[UInt8]>([])

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - greeting: What it says to the first bytes of a connection; nil says nothing.
    ///   - answer: What it says to all that come after; nil closes the connection.
    ///   - chunk: How many bytes it sends at a time.
    init(greeting: String? = "+PONG\r\n", answer: [UInt8]?, chunk: Int = .max, repeats: Bool = false) throws {
        listener = try Listener()
        let (socket, count, heard) = (listener.socket, count, heard)
        guard
            SystemThread.run({
                while true {
                    let client = accept(socket, nil, nil)
                    if client < 0 {
                        // Closed here alone: elsewhere its number could be another's before this thread notices.
                        close(socket)
                        return
                    }
                    count.withLock { $0 += 1 }
                    _ = SystemThread.run {
                        let session = Session(client: client, heard: heard, chunk: chunk)
                        session.serve(greeting: greeting, answer: answer, repeats: repeats)
                        close(client)
                    }
                }
            })
        else { throw RedisServer.Failure(what: "no thread") }
    }

    deinit {
        shutdown(listener.socket, Int32(SHUT_RDWR))
    }

    /// How many connections were made.
    var connections: Int { count.withLock { $0 } }

    /// - Parameter timeout: Nothing waits for it unless a test says so: a busy machine may take its time.
    func configuration(timeout: Duration = .seconds(600)) -> RedisStore.Configuration {
        RedisStore.Configuration(
            endpoint: .tcp(host: "127.0.0.1", port: listener.port),
            password: "s3cret",
            connectTimeout: timeout,
            commandTimeout: timeout
        )
    }

    /// Whether the bytes have come in, on whatever connection.
    func hasHeard(_ bytes: [UInt8]) -> Bool { heard.withLock { $0.range(of: bytes) != nil } }
}

/// One connection of the fake server.
private struct Session: Sendable {
    var client: Int32
    var heard: Locked<[UInt8]>
    var chunk: Int

    func serve(greeting: String?, answer: [UInt8]?, repeats: Bool) {
        // The sign-in sends AUTH and PING, in one piece on loopback.
        guard receives() else { return }
        guard let greeting else { return drain() }
        guard sends(Array("+OK\r\n".utf8) + Array(greeting.utf8), chunk: .max), receives() else { return }
        guard let answer else { return }
        repeat {
            guard sends(answer, chunk: chunk) else { return }
        } while repeats || receives()
    }

    private func drain() {
        while receives() {}
    }

    private func receives() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(client, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        heard.withLock { $0 += buffer[..<count] }
        return true
    }

    private func sends(_ bytes: [UInt8], chunk: Int) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(chunk)
            let count = unsafe part.withUnsafeBytes { buffer in
                unsafe send(client, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
            // A trickle comes apart.
            if chunk < 16 { usleep(2000) }
        }
        return true
    }
}
#endif
