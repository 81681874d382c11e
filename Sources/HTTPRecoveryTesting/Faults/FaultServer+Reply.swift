extension FaultServer {
    /// What the server does when a request has arrived: a list of steps.
    ///
    /// If the last step does not end the connection, the server reads the next request from it.
    public struct Reply: Sendable {
        /// A plain structure: the leak sanitizer does not see through an enumeration's tagged pointers.
        package struct Step: Sendable {
            package enum Kind: Sendable {
                case send
                case trickle
                case repeatUntilHangup
                case pause
                case wait
                case open
                case hold
                case close
                case finish
                case reset
            }

            package var kind: Kind
            package var bytes: [UInt8] = []
            /// What follows them, but in the answer to a HEAD.
            var body: [UInt8] = []
            package var milliseconds: Int32 = 0
            var gate: Gate?
        }

        package var steps: [Step]

        /// First this reply's steps, then the other's.
        public func then(_ next: Reply) -> Reply {
            Reply(steps: steps + next.steps)
        }

        // MARK: Steps

        /// Sends bytes, whatever they are.
        public static func bytes(_ bytes: some Sequence<UInt8>) -> Reply {
            Reply(steps: [Step(kind: .send, bytes: Array(bytes))])
        }

        /// Sends a text as it stands.
        public static func raw(_ text: String) -> Reply { bytes(text.utf8) }

        /// Sends a text byte by byte, with a pause between two.
        public static func trickle(_ text: String, milliseconds: Int) -> Reply {
            trickle(Array(text.utf8), milliseconds: Int64(milliseconds))
        }

        /// Sends bytes one by one, with a pause between two.
        package static func trickle(_ bytes: [UInt8], milliseconds: Int64) -> Reply {
            Reply(steps: [Step(kind: .trickle, bytes: bytes, milliseconds: Int32(clamping: milliseconds))])
        }

        /// Sends a text again and again until the client leaves.
        public static func endless(_ text: String) -> Reply {
            Reply(steps: [Step(kind: .repeatUntilHangup, bytes: Array(text.utf8))])
        }

        /// Waits until the gate is open.
        public static func wait(for gate: Gate) -> Reply { Reply(steps: [Step(kind: .wait, gate: gate)]) }

        /// Opens a gate, to tell the test that the steps before are done.
        public static func open(_ gate: Gate) -> Reply { Reply(steps: [Step(kind: .open, gate: gate)]) }

        /// Says nothing, and keeps the connection until the client leaves.
        public static let stall = Reply(steps: [Step(kind: .hold)])

        /// Closes the connection in an orderly way (FIN).
        public static let close = Reply(steps: [Step(kind: .close)])

        /// Resets the connection (RST).
        public static let reset = Reply(steps: [Step(kind: .reset)])

        /// Waits, even for a client that has sent everything it has.
        package static func pause(milliseconds: Int64) -> Reply {
            Reply(steps: [Step(kind: .pause, milliseconds: Int32(clamping: milliseconds))])
        }

        /// Closes the connection once the client has, or half a second later, so that what was sent arrives.
        package static let finish = Reply(steps: [Step(kind: .finish)])

        // MARK: Whole answers

        /// A complete answer on a connection that stays open.
        ///
        /// No body is sent where there can be none, to a HEAD and with the statuses 204 and 304 (RFC 9110 section 6.4.1).
        public static func answer(
            _ status: Int = 200,
            headers: [(name: String, value: String)] = [],
            body: String = ""
        ) -> Reply {
            answer(status, headers: headers, bytes: Array(body.utf8))
        }

        /// A complete answer with a body of bytes, on a connection that stays open.
        ///
        /// None is sent where there can be none, to a HEAD and with the statuses 204 and 304 (RFC 9110 section 6.4.1).
        public static func answer(
            _ status: Int = 200,
            headers: [(name: String, value: String)] = [],
            bytes: [UInt8]
        ) -> Reply {
            let fields = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
            let length = status == 204 ? "" : "Content-Length: \(bytes.count)\r\n"
            let head = Array("HTTP/1.1 \(status) \r\n\(fields)\(length)\r\n".utf8)
            return Reply(steps: [Step(kind: .send, bytes: head, body: [204, 304].contains(status) ? [] : bytes)])
        }

        /// The request, as the body of the answer: its head as it came, and its body.
        public static func echo(_ request: Request) -> Reply {
            answer(bytes: request.rawHead + request.body)
        }

        // MARK: Faults

        /// The connection ends in the middle of a body whose length was announced.
        public static let shortBody = raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this").then(.close)

        /// The connection ends in the middle of a chunk.
        public static let truncatedChunks =
            raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n64\r\nworl").then(.close)

        /// The connection is reset in the middle of a body.
        public static let resetInBody = raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this").then(.reset)

        /// What comes is not HTTP.
        public static let garbage = raw("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n\u{1}\u{2}\u{3}\r\n").then(.close)

        /// The connection ends within the header section.
        public static let finInHeaders = raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Half: val").then(.close)

        /// The connection ends after a header field, before the empty line.
        public static let finBeforeEmptyLine = raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n").then(.close)

        /// Header fields without end.
        public static let endlessHeaders = raw("HTTP/1.1 200 OK\r\n").then(.endless("X-More: and more and more\r\n"))

        /// One header line without end.
        public static let endlessHeaderLine = raw("HTTP/1.1 200 OK\r\nX-Long: ").then(.endless("longer and longer "))
    }
}
