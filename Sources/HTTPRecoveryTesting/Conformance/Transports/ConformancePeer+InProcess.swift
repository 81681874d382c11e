import HTTPRecovery
import HTTPTypes

extension ConformancePeer {
    /// Answers a call of a function.
    static func answer(
        _ call: InProcessTransport.Call,
        _ log: ServerLog,
        _ bodies: Bodies,
        _ reply: (FaultServer.Request) -> PeerReply
    ) async throws -> TransportResponse {
        let number = log.addConnection()
        log.addHead(ofCall: CallLedger.fieldName.flatMap { call.request.headerFields[$0] })
        do {
            var request = FaultServer.Request(
                method: call.request.method.rawValue,
                path: call.request.path ?? "/",
                headers: call.request.headerFields,
                connection: number
            )
            if case .after(let signal) = bodies { try await signal.wait() }
            switch bodies {
            case .never: break
            case .read, .after: request.body = try await call.body.collect(upTo: .max)
            }
            // What is there at once is read without a look at whether the client has gone.
            try Task.checkCancellation()
            let reply = reply(request)
            log.add(request)
            var performer = Performer(steps: reply.before, hasHead: false)
            var unread = MessageBody.empty.makeAsyncIterator()
            while try await performer.next(&unread) != nil {}
            var head = HTTPResponse(status: .init(code: reply.status))
            for field in reply.fields {
                guard let name = HTTPField.Name(field.name) else { continue }
                head.headerFields.append(HTTPField(name: name, value: field.value))
            }
            var performing = Performer(steps: reply.body, hasHead: true)
            if case .length(let length) = reply.framing {
                head.headerFields[.contentLength] = String(length)
                performing.rest = length
            }
            // Made where it is read, so that what is left of it can be told when it is let go.
            let body = MessageBody { [performing] in
                Steps(performer: performing, body: call.body, log: log, number: number)
            }
            return TransportResponse(head: head, body: reply.body.isEmpty ? .empty : body)
        } catch {
            log.addHangup(of: number)
            throw error
        }
    }

    /// Carries out steps one after the other; hands out what they send.
    private struct Performer {
        var steps: [PeerReply.Step]
        /// Whether the head of the answer is out.
        let hasHead: Bool
        /// How many bytes are missing of those that were stated; negative if none were.
        var rest = -1
        private var flooded = 0

        init(steps: [PeerReply.Step], hasHead: Bool) {
            self.steps = steps
            self.hasHead = hasHead
        }

        /// - Parameter pieces: The request's body, of which nothing is taken but by an echo.
        mutating func next(_ pieces: inout MessageBody.AsyncIterator) async throws -> ArraySlice<UInt8>? {
            while let step = steps.first {
                switch step {
                case .send(let bytes):
                    steps.removeFirst()
                    rest -= bytes.count
                    return bytes[...]
                case .flood(let pieces, let sent):
                    flooded += 1
                    if flooded > pieces {
                        flooded = 0
                        break
                    }
                    try Task.checkCancellation()
                    sent.withLock { $0 += 1 }
                    return ArraySlice(repeating: 7, count: PeerReply.floodPiece)
                case .wait(let signal): try await signal.wait()
                case .open(let signal): signal.open()
                // A body that is whole has ended, whatever its server does then.
                case .stall where rest == 0: break
                case .stall: try await Signal().wait()
                case .echo:
                    if let piece = try await pieces.next(isolation: #isolation) { return piece }
                case .cut: throw TransportError(.connectionLost, hasHead ? .answered : .unknown)
                }
                steps.removeFirst()
            }
            return nil
        }
    }

    private struct Steps: AsyncSequence, Sendable {
        struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var performer: Performer
            var pieces: MessageBody.AsyncIterator
            let watch: Watch

            mutating func next() async throws -> ArraySlice<UInt8>? {
                do {
                    let piece = try await performer.next(&pieces)
                    if piece == nil { watch.isWhole.withLock { $0 = true } }
                    return piece
                } catch {
                    watch.leave()
                    throw error
                }
            }
        }

        /// Tells the log when the body is let go before its end.
        final class Watch: Sendable {
            let isWhole = Locked(false)
            let log: ServerLog
            let number: Int

            init(log: ServerLog, number: Int) {
                (self.log, self.number) = (log, number)
            }

            func leave() { log.addHangup(of: number) }

            deinit {
                if !isWhole.withLock({ $0 }) { leave() }
            }
        }

        let performer: Performer
        let body: MessageBody
        let log: ServerLog
        let number: Int

        func makeAsyncIterator() -> AsyncIterator {
            let isEcho = performer.steps.contains { if case .echo = $0 { true } else { false } }
            let pieces = (isEcho ? body : .empty).makeAsyncIterator()
            return AsyncIterator(performer: performer, pieces: pieces, watch: Watch(log: log, number: number))
        }
    }
}
