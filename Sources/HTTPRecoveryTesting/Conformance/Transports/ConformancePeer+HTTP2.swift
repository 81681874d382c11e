import HTTPRecovery
import HTTPTypes

extension ConformancePeer {
    /// Serves a connection of HTTP/2: its streams side by side, each step of a reply as soon as it can be done.
    ///
    /// What is sent fits into the windows that every client grants at first, so floods are none of it.
    static func serveHTTP2(
        _ connection: FaultServer.Connection,
        _ bodies: Bodies,
        _ reply: (FaultServer.Request) -> PeerReply
    ) {
        guard connection.read(exactly: 24) != nil, connection.write(HTTP2Frame.settings) else { return }
        var session = HTTP2Session(connection: connection, bodies: bodies)
        while let frame = HTTP2Frame.read(from: connection), session.take(frame, reply) {}
    }

    private struct HTTP2Session {
        struct Stream {
            var request: FaultServer.Request
            /// What is left to do when the request's body, which is sent back, has come to its end.
            var afterEcho: [PeerReply.Step]?
        }

        /// How far steps have come: to their end, to what has to be waited for, or to the end of the connection.
        enum Progress {
            case done, held, lost
        }

        let connection: FaultServer.Connection
        let bodies: Bodies
        var fields = HTTP2FieldReader()
        var streams: [UInt32: Stream] = [:]
        var index = 0

        init(connection: FaultServer.Connection, bodies: Bodies) {
            (self.connection, self.bodies) = (connection, bodies)
        }

        /// False when the connection is at its end.
        mutating func take(_ frame: HTTP2Frame, _ reply: (FaultServer.Request) -> PeerReply) -> Bool {
            switch frame.type {
            case 0: return takeBody(frame, reply)
            case 1, 9:
                guard let head = fields.take(frame) else { return true }
                return begin(frame, head, reply)
            case 3: streams[frame.stream] = nil
            case 4 where frame.flags & 1 == 0: return connection.write(HTTP2Frame.settingsAck)
            case 6 where frame.flags & 1 == 0:
                return connection.write(HTTP2Frame.bytes(type: 6, flags: 1, stream: 0, frame.payload))
            default: break
            }
            return true
        }

        private mutating func begin(
            _ frame: HTTP2Frame,
            _ head: [HTTP2FieldReader.Field],
            _ reply: (FaultServer.Request) -> PeerReply
        ) -> Bool {
            func value(_ name: String) -> String { head.first { $0.name == name }?.value ?? "" }
            var request = FaultServer.Request(
                method: value(":method"),
                path: value(":path"),
                connection: connection.id,
                indexOnConnection: index
            )
            index += 1
            for field in head {
                guard let name = HTTPField.Name(field.name) else { continue }
                request.headers.append(HTTPField(name: name, value: field.value))
            }
            connection.recordHead(ofCall: head.first { $0.name == CallLedger.field }?.value)
            streams[frame.stream] = Stream(request: request)
            switch bodies {
            case .never: return answer(frame.stream, reply) && (!frame.endsStream || end(frame.stream, reply))
            case .after(let signal):
                guard connection.wait(for: signal.gate, milliseconds: -1) == .gate else { return false }
            case .read: break
            }
            return !frame.endsStream || end(frame.stream, reply)
        }

        private mutating func takeBody(_ frame: HTTP2Frame, _ reply: (FaultServer.Request) -> PeerReply) -> Bool {
            guard let stream = streams[frame.stream] else { return true }
            var content = frame.payload[...]
            if frame.flags & 8 != 0, let padding = content.popFirst() { content = content.dropLast(Int(padding)) }
            if case .never = bodies, stream.afterEcho == nil { return true }
            if !frame.payload.isEmpty {
                let room = HTTP2Frame.big(UInt32(truncatingIfNeeded: frame.payload.count))
                let updates = [0, frame.stream].map { HTTP2Frame.bytes(type: 8, flags: 0, stream: $0, room) }
                guard connection.write(Array(updates.joined())) else { return false }
            }
            if stream.afterEcho == nil {
                streams[frame.stream]?.request.body += content
            } else if !content.isEmpty {
                guard connection.write(HTTP2Frame.data(frame.stream, content, endsStream: false)) else { return false }
            }
            return !frame.endsStream || end(frame.stream, reply)
        }

        /// The request is whole.
        private mutating func end(_ id: UInt32, _ reply: (FaultServer.Request) -> PeerReply) -> Bool {
            if let steps = streams[id]?.afterEcho {
                streams[id]?.afterEcho = nil
                return finish(id, steps)
            }
            if case .never = bodies { return true }
            return answer(id, reply)
        }

        private mutating func answer(_ id: UInt32, _ reply: (FaultServer.Request) -> PeerReply) -> Bool {
            guard let request = streams[id]?.request else { return true }
            // Decided first, so that whoever has seen the request can rely on the reply's state.
            let reply = reply(request)
            connection.record(request)
            switch perform(reply.before, of: id) {
            case .done: break
            case .held: return true
            case .lost: return false
            }
            var fields = reply.fields.map { (name: $0.name.lowercased(), value: $0.value) }
            if case .length(let length) = reply.framing { fields.append(("content-length", String(length))) }
            let isBodyless = reply.body.isEmpty
            let head = HTTP2Frame.headers(id, status: String(reply.status), fields, endsStream: isBodyless)
            guard connection.write(head) else { return false }
            return isBodyless || finish(id, reply.body)
        }

        /// Carries out the last steps of an answer, and ends it after them.
        private mutating func finish(_ id: UInt32, _ steps: [PeerReply.Step]) -> Bool {
            switch perform(steps, of: id) {
            case .done: connection.write(HTTP2Frame.data(id, [], endsStream: true))
            case .held: true
            case .lost: false
            }
        }

        private mutating func perform(_ steps: [PeerReply.Step], of id: UInt32) -> Progress {
            for (index, step) in steps.enumerated() {
                switch step {
                case .send(let bytes):
                    guard connection.write(HTTP2Frame.data(id, bytes, endsStream: false)) else { return .lost }
                case .wait(let signal):
                    guard connection.wait(for: signal.gate, milliseconds: -1) == .gate else { return .lost }
                case .open(let signal): signal.open()
                case .echo:
                    streams[id]?.afterEcho = Array(steps[(index + 1)...])
                    return .held
                case .stall: return .held
                case .flood, .cut:
                    connection.reset()
                    return .lost
                }
            }
            return .done
        }
    }
}
