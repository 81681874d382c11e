import Dispatch
import Glibc
import Locking

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
        var isStopped = false
    }

    private let listener: Int32
    private let state = Locked(State())
    /// Its address.
    let authority: String
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
        let address = Sockets.Address(host.contains(":") ? "[\(host)]:0" : "\(host):0")
        guard let address else { throw SandboxError(.cannotListen, host) }
        let (listener, port) = try Sockets.listen(address)
        self.listener = listener
        authority = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        _ = fcntl(listener, F_SETFL, 0)
        let state = state
        DispatchQueue.global().async {
            while true {
                let descriptor = accept(listener, nil, nil)
                if state.withLock(\.isStopped) || descriptor < 0 {
                    _ = close(descriptor)
                    _ = close(listener)
                    return
                }
                Thread.start { Self.serve(descriptor, readsBody: readsBody, steps, state) }
            }
        }
    }

    /// One that always does the same.
    convenience init(host: String = "127.0.0.1", _ steps: Step...) throws {
        try self.init(host: host) { _ in steps }
    }

    deinit {
        state.withLock { $0.isStopped = true }
        // Wakes the thread that accepts.
        _ = shutdown(listener, Int32(SHUT_RDWR))
    }

    /// The requests that have arrived.
    var requests: [String] { state.withLock(\.requests) }
    /// How many of the connections that it held the other side has ended.
    var departures: Int { state.withLock(\.departures) }

    private static func serve(
        _ descriptor: Int32,
        readsBody: Bool,
        _ steps: (String) -> [Step],
        _ state: Locked<State>
    ) {
        defer { _ = close(descriptor) }
        var text = ""
        while !isWhole(text, readsBody: readsBody) {
            guard let more = receive(descriptor) else { return }
            text += more
        }
        state.withLock { $0.requests.append(text) }
        for step in steps(text) {
            switch step {
            case .send(let text): send(descriptor, Array(text.utf8))
            case .bytes(let bytes): send(descriptor, bytes)
            case .close: return
            case .reset: return Sockets.abortOnClose(descriptor)
            case .hold:
                while receive(descriptor) != nil {}
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

    private static func receive(_ descriptor: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Sockets.receive(descriptor, into: &buffer).count
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    private static func send(_ descriptor: Int32, _ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let (count, _) = Sockets.send(descriptor, rest)
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }
}

/// Threads that may block.
private enum Thread {
    static func start(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "upstream", attributes: []).async(execute: work)
    }
}
