#if Redis
import HTTPRecovery

extension Connection {
    /// Reads what has come and hands out the replies in it.
    func receive(from wire: Wire) {
        mayHaveMore = false
        // A server that does not stop talking must not stop the clock.
        for _ in 0..<32 {
            switch wire.read(into: &buffer) {
            case .done(let count):
                do throws(SharedState.StoreError) {
                    try reader?.feed(buffer[..<count])
                    while let reply = try reader?.next() {
                        take(reply)
                        // The reply may have been the connection's last.
                        guard phase.wire === wire else { return }
                    }
                } catch {
                    return lose(error)
                }
            case .wantsRead, .wantsWrite:
                if isRetired { lose(.noAnswer("it is of no use any more", configuration)) }
                return
            case .closed: return lose(.noAnswer("it has closed the connection", configuration))
            case .failed(let error): return lose(error)
            }
        }
        mayHaveMore = true
    }

    private func take(_ reply: Reply) {
        if let receive, let message = Message(reply) {
            if message.channel == channel { receive(message.payload) }
            return
        }
        guard let request = inFlight.popFirst() else { return lose(.brokenProtocol) }
        switch request.purpose {
        case .greeting: return takeGreeting(reply, to: request)
        case .amends, .prelude: return
        case .caller:
            if case .error(let error) = reply {
                if error.asksForReconnection { isRetired = true }
                if error.isMissingScript, !request.isGivenUp, let full = request.command.inFull {
                    request.command = full
                    request.sentAt = nil
                    queueAlarm = min(queueAlarm, request.deadline)
                    return queued.prepend(request)
                }
            }
            release(1)
            request.flight.land(.success(reply))
        }
    }

    /// Gives the connection up.
    ///
    /// What was sent fails, though it may have been carried out; what was not sent waits for the next connection.
    func lose(_ error: SharedState.StoreError) {
        switch phase {
        case .idle, .resolving: break
        case .connecting, .securing, .greeting: failAttempt(error)
        case .ready: drop(error)
        }
    }

    /// Closes the connection, whatever its phase.
    func drop(_ error: SharedState.StoreError? = nil) {
        phase = .idle
        reader = nil
        outgoing.removeAll()
        alarm = Monotonic.never
        mayHaveMore = false
        isRetired = false
        let lost = inFlight.removeAll()
        for request in lost {
            switch request.purpose {
            case .greeting, .prelude: break
            // A server that ends the connection each time is not asked for ever.
            case .amends: if request.sends < 3 { amends.append(request) }
            case .caller:
                takeBack(request)
                release(1)
                let reason = error?.description ?? "it was lost"
                request.fail(SharedState.StoreError("\(reason); the command may have been carried out"))
            }
        }
    }
}
#endif
