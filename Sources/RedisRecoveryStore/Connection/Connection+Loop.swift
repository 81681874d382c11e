#if Redis
import COpenSSL
import Glibc
import HTTPRecovery

extension Connection {
    /// How far the connection is.
    enum Phase {
        case idle
        /// The host's name is being looked up.
        case resolving
        case connecting(Wire)
        case securing(Wire)
        /// Signing in: the connection's own commands are under way, the callers' wait.
        case greeting(Wire)
        case ready(Wire)

        var wire: Wire? {
            switch self {
            case .idle, .resolving: nil
            case .connecting(let wire), .securing(let wire), .greeting(let wire), .ready(let wire): wire
            }
        }
    }

    /// A server that says nothing for so long is given up.
    private var patience: UInt64 {
        max(1_000_000_000, 2 * Monotonic.nanoseconds(configuration.commandTimeout))
    }

    /// The thread.
    func run() {
        let thread = ProcessEnd.enter { self.standStill() }
        defer {
            // What else is left to the end of the thread, which may come after that of the process has begun.
            OPENSSL_thread_stop()
            ProcessEnd.leave(thread)
        }
        while let news = takeNews() {
            if news.mustStandStill {
                // Who comes later is not kept waiting; what is under way stays as it is.
                end()
                ProcessEnd.standStill(thread)
            }
            accept(news)
            expire()
            advance()
            flush()
            sleepAndMove()
        }
        let error = SharedState.StoreError("the Redis store is shut down")
        lose(error)
        failQueued(error)
        amends = []
        end()
    }

    private func accept(_ news: News) {
        for addresses in news.addresses { connect(to: addresses) }
        for request in news.requests {
            queued.append(request)
            queueAlarm = min(queueAlarm, request.deadline)
        }
        if !news.abandoned.isEmpty {
            for request in news.abandoned {
                request.isGivenUp = true
                // It may be answered already, and its caller gone before the answer.
                if request.sentAt != nil { takeBack(request) }
            }
            release(queued.remove { $0.isGivenUp }.count)
        }
    }

    // MARK: Time

    private func expire() {
        let now = Monotonic.now()
        if queueAlarm <= now { expireQueued(at: now) }
        if alarm <= now { expireInFlight(at: now) }
        if attempt.deadline <= now {
            failAttempt(.noAnswer("no connection within \(configuration.connectTimeout)", configuration))
        } else if case .connecting = phase, attempt.addressDeadline <= now {
            connectToNext(after: .noAnswer("no connection in time", configuration))
        }
        guard case .ready = phase, let since = inFlight.first?.sentAt else { return }
        if since &+ patience <= now {
            lose(.noAnswer("no answer for long", configuration))
        } else if since &+ Monotonic.nanoseconds(configuration.commandTimeout) <= now {
            // The server stands still; nobody has to find that out for himself.
            failQueued(.noAnswer("it answers nobody at present", configuration))
        }
    }

    private func expireQueued(at now: UInt64) {
        let late = queued.remove { $0.deadline <= now }
        queueAlarm = queued.all.lazy.map(\.deadline).min() ?? Monotonic.never
        release(late.count)
        let before = attempt.lastError.map { "; before that: \($0)" } ?? ""
        let reason = "the command could not be sent within \(configuration.commandTimeout)\(before)"
        for request in late { request.fail(.noAnswer(reason, configuration)) }
    }

    private func expireInFlight(at now: UInt64) {
        alarm = Monotonic.never
        for request in inFlight.all where request.purpose == .caller && !request.isGivenUp {
            if request.deadline > now {
                alarm = min(alarm, request.deadline)
                continue
            }
            request.isGivenUp = true
            request.fail(.noAnswer("no answer within \(configuration.commandTimeout)", configuration))
            takeBack(request)
        }
    }

    /// Fails all that was not sent.
    func failQueued(_ error: SharedState.StoreError) {
        let waiting = queued.removeAll()
        queueAlarm = Monotonic.never
        release(waiting.count)
        for request in waiting { request.fail(error) }
    }

    private var nextDeadline: UInt64 {
        var deadline = min(queueAlarm, alarm)
        switch phase {
        case .idle: if !amends.isEmpty { deadline = min(deadline, attempt.pausesUntil) }
        case .connecting: deadline = min(deadline, attempt.addressDeadline)
        case .resolving, .securing, .greeting: deadline = min(deadline, attempt.deadline)
        case .ready: if let since = inFlight.first?.sentAt { deadline = min(deadline, since &+ patience) }
        }
        return deadline
    }

    // MARK: Sending

    /// Takes back what a command may have done, if its caller does not learn of it.
    func takeBack(_ request: Request) {
        guard let command = request.command.amends, !request.isTakenBack else { return }
        request.isTakenBack = true
        let deadline = Monotonic.deadline(after: command.lifetime)
        amends.append(Request(Command(command), purpose: .amends, deadline: deadline))
        // Leases end by themselves; a bound is enough.
        if amends.count > 1024 { amends.removeFirst() }
    }

    /// Sends what waits.
    private func flush() {
        guard case .ready(let wire) = phase else { return }
        let now = Monotonic.now()
        for request in amends where request.deadline > now { send(request, at: now) }
        amends = []
        // What the socket does not take soon waits in the queue, where it can still be called off.
        while outgoing.count < 1 << 18, let request = queued.popFirst() { send(request, at: now) }
        write(to: wire)
    }

    func send(_ request: Request, at now: UInt64) {
        if request.command.isAsking {
            send(Request(Command("ASKING"), purpose: .prelude, deadline: request.deadline), at: now)
        }
        outgoing.append(request.command)
        request.sentAt = now
        request.sends += 1
        inFlight.append(request)
        if request.purpose == .caller { alarm = min(alarm, request.deadline) }
    }

    func write(to wire: Wire) {
        while !outgoing.isEmpty {
            switch wire.write(outgoing.rest) {
            case .done(let count): outgoing.consume(count)
            case .wantsRead, .wantsWrite: return
            case .closed: return lose(.noAnswer("it has closed the connection", configuration))
            case .failed(let error): return lose(error)
            }
        }
    }

    // MARK: Sleeping

    private func sleepAndMove() {
        var events = Int16(POLLIN)
        let wire = phase.wire
        switch phase {
        case .idle, .resolving: break
        case .connecting: events = Int16(POLLOUT)
        case .securing: events = Int16(attempt.wantsWrite ? POLLOUT : POLLIN)
        case .greeting, .ready: if !outgoing.isEmpty { events |= Int16(POLLOUT) }
        }
        var set = [
            pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wire?.socket ?? -1, events: events, revents: 0),
        ]
        let deadline = nextDeadline
        let timeout = mayHaveMore || !fallsAsleep() ? 0 : Monotonic.pollTimeout(until: deadline)
        let count = unsafe poll(&set, 2, timeout)
        guard count > 0 || mayHaveMore else { return }
        if set[0].revents != 0 {
            var counter: UInt64 = 0
            _ = unsafe read(wakeup, &counter, 8)
        }
        guard set[1].revents != 0 || mayHaveMore, let wire else { return }
        move(wire, mayWrite: set[1].revents & Int16(POLLOUT) != 0)
    }

    private func move(_ wire: Wire, mayWrite: Bool) {
        switch phase {
        case .idle, .resolving: break
        case .connecting, .securing: secure(wire)
        case .greeting, .ready:
            receive(from: wire)
            guard mayWrite, phase.wire === wire else { return }
            write(to: wire)
        }
    }
}

extension SharedState.StoreError {
    static func noAnswer(_ reason: String, _ configuration: RedisStore.Configuration) -> SharedState.StoreError {
        SharedState.StoreError(
            "the Redis server at \(configuration.endpoint) cannot be reached (\(reason)); see that it runs"
        )
    }
}
#endif
