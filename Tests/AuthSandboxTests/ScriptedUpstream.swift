import HTTPRecovery
import HTTPRecoveryTesting

@testable import AuthSandbox

/// A server that sends whatever bytes a test wants, and that knows what it was sent.
final class ScriptedUpstream: Sendable {
    /// What it does about a request.
    enum Step: Sendable {
        case send(String)
        case bytes([UInt8])
        case close
        case reset
        /// Nothing, until the other side leaves.
        case hold
    }

    private struct State {
        var requests: [String] = []
        var departures = 0
    }

    private let server: SocketServer
    private let state = Locked(State())
    /// Its address.
    var authority: String { server.address.text }
    var url: String { "http://\(authority)" }

    /// Listens; the steps are those for the request with the text.
    ///
    /// - Parameters:
    ///   - host: Where.
    ///   - readsBody: Whether a request counts as arrived when its body is there too.
    ///   - steps: What to do about a request; after the last step the connection is closed.
    init(
        host: String = "127.0.0.1",
        readsBody: Bool = true,
        _ steps: @escaping @Sendable (String) -> [Step]
    ) throws {
        let address = SocketAddress(listening: host.contains(":") ? "[\(host)]:0" : "\(host):0")
        guard let address else { throw SandboxError(.cannotListen, host) }
        let state = state
        server = try SocketServer(address) { connection, _ in
            Self.serve(connection, readsBody: readsBody, steps, state)
        }
    }

    /// One that always does the same.
    convenience init(host: String = "127.0.0.1", _ steps: Step...) throws {
        try self.init(host: host) { _ in steps }
    }

    deinit {
        server.stop()
    }

    /// The requests that have arrived.
    var requests: [String] { state.withLock(\.requests) }
    /// How many of the connections that it held the other side has ended.
    var departures: Int { state.withLock(\.departures) }

    private static func serve(
        _ connection: FaultServer.Connection,
        readsBody: Bool,
        _ steps: (String) -> [Step],
        _ state: Locked<State>
    ) {
        var text = ""
        while !isWhole(text, readsBody: readsBody) {
            guard let more = connection.read() else { return }
            text += String(decoding: more, as: UTF8.self)
        }
        state.withLock { $0.requests.append(text) }
        for step in steps(text) {
            switch step {
            case .send(let text): connection.write(Array(text.utf8))
            case .bytes(let bytes): connection.write(bytes)
            case .close: return
            case .reset: return connection.reset()
            case .hold:
                while connection.read() != nil {}
                state.withLock { $0.departures += 1 }
            }
        }
    }

    private static func isWhole(_ text: String, readsBody: Bool) -> Bool {
        guard let end = text.utf8.firstRange(of: "\r\n\r\n".utf8) else { return false }
        let length = text[..<end.lowerBound].split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
            .flatMap { Int($0.dropFirst(16)) }
        return !readsBody || text[end.upperBound...].utf8.count >= length ?? 0
    }
}
