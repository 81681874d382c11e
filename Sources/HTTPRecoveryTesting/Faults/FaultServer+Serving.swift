extension FaultServer.Connection {
    /// More than any test sends.
    private static let maximumBodyLength = 1 << 40

    /// Does with the connection what a plan says.
    func carryOut(
        _ plan: FaultServer.Plan,
        reply: (FaultServer.Request) -> FaultServer.Reply
    ) {
        switch plan.choice {
        case .serve(let gate): serve(bodyGate: gate, reply: reply)
        case .serveHeads:
            var reader = RequestReader(self, maximumBodyLength: Self.maximumBodyLength)
            var index = 0
            while let head = reader.head() {
                let request = FaultServer.Request(head, connection: id, index: index)
                index += 1
                record(request)
                guard perform(reply(request), toHead: request.method == "HEAD") else { return }
            }
        case .end(let count, let byReset):
            if count > 0 { _ = read(exactly: count) }
            if byReset { reset() } else { close() }
        case .stall: waitForHangup()
        case .raw(let body): body(self)
        }
    }

    private func serve(bodyGate: FaultServer.Gate?, reply: (FaultServer.Request) -> FaultServer.Reply) {
        var reader = RequestReader(self, maximumBodyLength: Self.maximumBodyLength)
        var index = 0
        while reader.head() != nil {
            if let bodyGate, wait(for: bodyGate, milliseconds: -1) != .gate { return }
            guard case .request(let head, let body) = reader.request() else { return }
            var request = FaultServer.Request(head, connection: id, index: index)
            request.body = body
            index += 1
            // Decided first, so that a test that has seen the request can rely on the reply's state.
            let reply = reply(request)
            record(request)
            guard perform(reply, toHead: request.method == "HEAD") else { return }
        }
    }

    /// Carries out the steps; false when the connection is at its end.
    package func perform(_ reply: FaultServer.Reply, toHead isHead: Bool = false) -> Bool {
        for step in reply.steps {
            switch step.kind {
            case .send:
                guard write(isHead ? step.bytes : step.bytes + step.body) else { return false }
            case .trickle:
                for byte in step.bytes {
                    guard write([byte]) else { return false }
                    if wait(for: nil, milliseconds: step.milliseconds) == .hangup { return false }
                }
            case .repeatUntilHangup:
                while write(step.bytes) {}
                return false
            case .pause:
                if wait(for: nil, milliseconds: step.milliseconds, isHalfEnough: false) == .hangup { return false }
            case .wait:
                guard wait(for: step.gate, milliseconds: -1) == .gate else { return false }
            case .open: step.gate?.open()
            case .hold:
                waitForHangup()
                return false
            case .close:
                close()
                return false
            case .finish:
                finish()
                return false
            case .reset:
                reset()
                return false
            }
        }
        return true
    }
}
