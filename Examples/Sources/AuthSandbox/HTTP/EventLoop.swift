import CSandboxEvents
import Glibc

/// One thread that serves every connection: it waits in epoll, and never for a single client.
struct EventLoop {
    private static let listenerToken: UInt64 = 0
    private static let wakeToken: UInt64 = .max
    private static let firstExchange = 1 << 62
    private static let maximumPending = 20 * 1024 * 1024

    private let listener: Int32
    private let wake: Int32
    private let poll: Int32
    private let handler: SandboxHandler
    private var connections: [Int: Connection] = [:]
    /// What the upstream is asked, by numbers that no client has.
    private var exchanges: [Int: UpstreamExchange] = [:]
    /// What has come of an exchange before it could wait for anything.
    private var failedExchanges: [Int: UpstreamOutcome] = [:]
    private var timers = TimerQueue()
    private var lastNumber = 0
    private var lastExchange = Self.firstExchange
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    init(listener: Int32, wake: Int32, handler: SandboxHandler) {
        self.listener = listener
        self.wake = wake
        self.handler = handler
        poll = sandbox_epoll_create()
        _ = sandbox_epoll_add(poll, listener, sandbox_event_in, Self.listenerToken)
        _ = sandbox_epoll_add(poll, wake, sandbox_event_in, Self.wakeToken)
    }

    /// Serves until the wake descriptor is written to, then closes everything.
    mutating func run() {
        var events = [sandbox_event](repeating: sandbox_event(), count: 256)
        serving: while true {
            let timeout = timers.nextDeadline.map { min(max($0 - now, 0), 60_000) } ?? -1
            let count = unsafe sandbox_epoll_wait(poll, &events, Int32(events.count), Int32(timeout))
            if count < 0, errno != EINTR { break }
            for event in events.prefix(Int(max(count, 0))) {
                let token = event.token
                if token == Self.wakeToken { break serving }
                if token == Self.listenerToken { acceptAll() } else { serve(Int(token), event.kinds) }
            }
            while let entry = timers.popDue(at: now) { wakeUp(entry.connection) }
        }
        for connection in connections.values { _ = close(connection.descriptor) }
        for exchange in exchanges.values { exchange.close() }
        connections = [:]
        exchanges = [:]
        _ = close(poll)
        _ = close(listener)
        _ = close(wake)
    }

    private var now: Int64 { Sockets.milliseconds(CLOCK_MONOTONIC) }

    private mutating func acceptAll() {
        while let (descriptor, peer, error) = Sockets.accept(listener) {
            guard error == 0 else {
                // Out of descriptors: leave the clients in the queue for a moment instead of spinning.
                _ = sandbox_epoll_change(poll, listener, 0, Self.listenerToken)
                timers.add(.init(deadline: now + 50, connection: 0))
                return
            }
            lastNumber += 1
            let connection = Connection(descriptor: descriptor, number: lastNumber, peer: peer)
            connections[lastNumber] = connection
            connection.interest = sandbox_event_in
            _ = sandbox_epoll_add(poll, descriptor, connection.interest, UInt64(lastNumber))
        }
    }

    private mutating func serve(_ number: Int, _ events: UInt32) {
        if let exchange = exchanges[number] { return go(on: exchange) }
        guard let connection = connections[number] else { return }
        if events & sandbox_event_gone != 0 { return drop(connection) }
        if events & sandbox_event_in != 0 {
            let read = Sockets.receive(connection.descriptor, into: &buffer)
            if read.count < 0, read.errno != EAGAIN, read.errno != EINTR { return drop(connection) }
            if read.count == 0 { connection.sawEnd = true }
            if read.count > 0, !connection.isDeaf {
                connection.parser.append(buffer[..<read.count])
                connection.arrival = read.arrival
            }
            if connection.parser.pendingCount > Self.maximumPending { return drop(connection) }
        }
        advance(connection)
    }

    private mutating func wakeUp(_ number: Int) {
        if number == 0 {
            _ = sandbox_epoll_change(poll, listener, sandbox_event_in, Self.listenerToken)
            return
        }
        if let exchange = exchanges[number] {
            return finish(exchange, failedExchanges[number] ?? exchange.timeOut(after: handler.timeout))
        }
        guard let connection = connections[number] else { return }
        if connection.isDeaf { return drop(connection) }
        connection.isWaiting = false
        advance(connection)
    }

    private mutating func advance(_ connection: Connection) {
        switch connection.advance(handler.receive) {
        case .socket: break
        case .timer(let milliseconds):
            timers.add(.init(deadline: now + min(max(milliseconds, 0), 86_400_000), connection: connection.number))
        case .upstream(let call): ask(call, for: connection)
        case .close: return finish(connection)
        case .reset:
            Sockets.abortOnClose(connection.descriptor)
            return drop(connection)
        }
        var interest: UInt32 = connection.sawEnd ? 0 : sandbox_event_in
        if !connection.output.isEmpty { interest |= sandbox_event_out }
        guard interest != connection.interest else { return }
        connection.interest = interest
        _ = sandbox_epoll_change(poll, connection.descriptor, interest, UInt64(connection.number))
    }

    /// Ends in order: closing at once with unread input would send a RST and could destroy the answer on its way.
    private mutating func finish(_ connection: Connection) {
        guard !connection.sawEnd, !connection.isDeaf else { return drop(connection) }
        _ = shutdown(connection.descriptor, Int32(SHUT_WR))
        connection.isDeaf = true
        connection.steps = []
        timers.add(.init(deadline: now + 500, connection: connection.number))
    }

    private mutating func drop(_ connection: Connection) {
        connections[connection.number] = nil
        _ = close(connection.descriptor)
    }

    /// Begins to ask the upstream.
    private mutating func ask(_ call: ForwardedCall, for connection: Connection) {
        lastExchange += 1
        let exchange = UpstreamExchange(
            number: lastExchange,
            client: connection.number,
            call: call,
            addresses: handler.addresses
        )
        exchanges[exchange.number] = exchange
        if let outcome = exchange.connect() {
            // Told in the next turn, so that a client with many requests at once does not nest them here.
            failedExchanges[exchange.number] = outcome
            timers.add(.init(deadline: now, connection: exchange.number))
        } else {
            register(exchange)
            timers.add(.init(deadline: now + handler.timeout, connection: exchange.number))
        }
    }

    private func register(_ exchange: UpstreamExchange) {
        exchange.interest = exchange.wanted
        _ = sandbox_epoll_add(poll, exchange.descriptor, exchange.interest, UInt64(exchange.number))
    }

    private mutating func go(on exchange: UpstreamExchange) {
        // Already failed, and about to be told.
        guard exchange.descriptor >= 0 else { return }
        let descriptor = exchange.descriptor
        if let outcome = exchange.advance(&buffer) { return finish(exchange, outcome) }
        if exchange.interest == 0 || exchange.descriptor != descriptor {
            register(exchange)
        } else if exchange.wanted != exchange.interest {
            exchange.interest = exchange.wanted
            _ = sandbox_epoll_change(poll, exchange.descriptor, exchange.interest, UInt64(exchange.number))
        }
    }

    private mutating func finish(_ exchange: UpstreamExchange, _ outcome: UpstreamOutcome) {
        exchange.close()
        exchanges[exchange.number] = nil
        failedExchanges[exchange.number] = nil
        timers.remove(connection: exchange.number)
        let reply = handler.complete(exchange.call, outcome)
        // A client that has left meanwhile gets nothing, but what was done for it stands in the log.
        guard let connection = connections[exchange.client] else { return }
        connection.answer(reply)
        advance(connection)
    }
}
