import Glibc
import HTTPRecovery
import HTTPRecoveryTesting

/// One request to the upstream, on a connection of its own and on the thread of the client's connection.
struct UpstreamExchange {
    private let call: ForwardedCall
    private let timeout: Int64
    private let deadline: ContinuousClock.Instant
    private var isConnected = false
    private var wasSent = false
    private var current = "it"

    init(_ call: ForwardedCall, timeout: Int64) {
        self.call = call
        self.timeout = timeout
        deadline = .now + .milliseconds(timeout)
    }

    /// Asks, and waits for what comes of it.
    ///
    /// - Parameters:
    ///   - addresses: What to try, in this order.
    ///   - stopping: Opened when nobody waits any more.
    mutating func run(_ addresses: [SocketAddress], until stopping: FaultServer.Gate) -> UpstreamOutcome {
        var reason = "it has no address"
        for address in addresses {
            current = address.text
            do throws(SocketError) {
                let socket = try address.connect()
                defer { _ = close(socket) }
                guard stopping.wait(for: socket, Int16(POLLOUT), milliseconds: left) else { return ended() }
                if let error = SocketError(of: socket) { throw error }
                isConnected = true
                return exchange(on: socket, until: stopping)
            } catch {
                reason = "connect to \(address.text): \(error.reason)"
            }
        }
        return outcome(.failure(UpstreamFailure(.unreachable, reason)))
    }

    private mutating func exchange(on socket: Int32, until stopping: FaultServer.Gate) -> UpstreamOutcome {
        var output = call.bytes[...]
        var parser = ResponseParser(isForHead: call.request.method == "HEAD")
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let wanted = output.isEmpty ? POLLIN : POLLIN | POLLOUT
            guard stopping.wait(for: socket, Int16(wanted), milliseconds: left) else { return ended() }
            if !output.isEmpty {
                let count = unsafe output.withUnsafeBytes {
                    unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count >= 0 {
                    output = output.dropFirst(count)
                    wasSent = output.isEmpty
                } else if errno != EAGAIN, errno != EINTR {
                    // It takes no more; an answer may be there all the same.
                    output = []
                }
            }
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            if count < 0 {
                if errno == EAGAIN || errno == EINTR { continue }
                // A close-delimited body that ends so may be cut.
                return outcome(.failure(UpstreamFailure(.closed, "it reset the connection")))
            }
            switch count == 0 ? parser.end() : parser.append(buffer[..<count]) {
            case .incomplete: continue
            case .answer(let response):
                wasSent = true
                return outcome(.success(response))
            case .failure(let failure): return outcome(.failure(failure))
            }
        }
    }

    /// How many milliseconds there are left.
    private var left: Int32 {
        let (seconds, attoseconds) = (deadline - .now).components
        return Int32(clamping: max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }

    /// What has come of the request when its time is over.
    private func ended() -> UpstreamOutcome {
        let text = "\(Double(timeout) / 1000) s"
        let reason =
            isConnected
            ? "its answer was not there as a whole within \(text)" : "no connection to \(current) within \(text)"
        return outcome(.failure(UpstreamFailure(.timeout, status: 504, reason)))
    }

    private func outcome(_ result: Result<SandboxResponse, UpstreamFailure>) -> UpstreamOutcome {
        UpstreamOutcome(result: result, wasSent: wasSent)
    }
}
