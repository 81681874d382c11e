import CSandboxEvents
import Glibc

/// One request to the upstream on a connection of its own; lives on the event loop's thread only.
final class UpstreamExchange {
    /// Under which the event loop knows it.
    let number: Int
    /// The number of the client's connection, which may be gone by the time of the answer.
    let client: Int
    let call: ForwardedCall
    /// The socket; negative when there is none.
    private(set) var descriptor: Int32 = -1
    /// The events asked of epoll.
    var interest: UInt32 = 0

    private var addresses: ArraySlice<SocketAddress>
    private var current: SocketAddress?
    private var isConnected = false
    private var wasSent = false
    private var output: ArraySlice<UInt8>
    private var parser: ResponseParser

    init(number: Int, client: Int, call: ForwardedCall, addresses: [SocketAddress]) {
        self.number = number
        self.client = client
        self.call = call
        self.addresses = addresses[...]
        output = call.bytes[...]
        parser = ResponseParser(isForHead: call.request.method == "HEAD")
    }

    /// What it waits for.
    var wanted: UInt32 {
        guard isConnected else { return sandbox_event_out }
        return output.isEmpty ? sandbox_event_in : sandbox_event_in | sandbox_event_out
    }

    /// Begins to connect to the next address; nothing was sent until now.
    ///
    /// - Parameter failure: What became of the address before.
    /// - Returns: What has come of the request, when there is nothing left to try.
    func connect(after failure: String = "it has no address") -> UpstreamOutcome? {
        close()
        var reason = failure
        while let address = addresses.popFirst() {
            let (descriptor, refusal) = Sockets.connect(address)
            guard let refusal else {
                self.descriptor = descriptor
                current = address
                return nil
            }
            reason = "connect to \(address.text): \(refusal)"
        }
        return UpstreamOutcome(result: .failure(UpstreamFailure(.unreachable, reason)), wasSent: false)
    }

    /// Goes on after an event.
    ///
    /// - Parameter buffer: Where bytes may be read to.
    /// - Returns: What has come of the request; nil while it goes on.
    func advance(_ buffer: inout [UInt8]) -> UpstreamOutcome? {
        if !isConnected {
            let error = Sockets.connectionError(descriptor)
            guard error == 0 else {
                errno = error
                return connect(after: "connect to \(current?.text ?? "?"): \(Sockets.lastError())")
            }
            isConnected = true
        }
        write()
        let read = Sockets.receive(descriptor, into: &buffer)
        if read.count < 0 {
            if read.errno == EAGAIN || read.errno == EINTR { return nil }
            // A close-delimited body that ends so may be cut.
            return outcome(.failure(UpstreamFailure(.closed, "it reset the connection")))
        }
        switch read.count == 0 ? parser.end() : parser.append(buffer[..<read.count]) {
        case .incomplete: return nil
        case .answer(let response):
            wasSent = true
            return outcome(.success(response))
        case .failure(let failure): return outcome(.failure(failure))
        }
    }

    /// What has come of the request when its time is over.
    func timeOut(after milliseconds: Int64) -> UpstreamOutcome {
        let text = "\(Double(milliseconds) / 1000) s"
        let reason =
            isConnected
            ? "its answer was not there as a whole within \(text)"
            : "no connection to \(current?.text ?? "it") within \(text)"
        return outcome(.failure(UpstreamFailure(.timeout, status: 504, reason)))
    }

    /// Ends the connection.
    func close() {
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
        descriptor = -1
        interest = 0
    }

    private func write() {
        while !output.isEmpty {
            let (count, error) = Sockets.send(descriptor, output)
            if count < 0 {
                if error == EAGAIN || error == EINTR { return }
                // It takes no more; an answer may be there all the same.
                output = []
                return
            }
            output = output.dropFirst(count)
            wasSent = output.isEmpty
        }
    }

    private func outcome(_ result: Result<SandboxResponse, UpstreamFailure>) -> UpstreamOutcome {
        UpstreamOutcome(result: result, wasSent: wasSent)
    }
}
