extension FaultServer {
    /// What the server does with a new connection.
    public struct Plan: Sendable {
        enum Choice: Sendable {
            case serve(bodyGate: Gate?)
            case serveHeads
            case end(afterBytes: Int, byReset: Bool)
            case stall
            case raw(@Sendable (Connection) -> Void)
        }

        let choice: Choice

        /// Reads requests and does with each what its ``FaultServer/Reply`` says.
        public static let serve = Plan(choice: .serve(bodyGate: nil))

        /// The same, but no body is read before the gate is open.
        public static func serve(readingBodiesAfter gate: Gate) -> Plan { Plan(choice: .serve(bodyGate: gate)) }

        /// Replies as soon as the head of a request is there, and never reads a body.
        public static let answerWithoutReadingBodies = Plan(choice: .serveHeads)

        /// Resets the connection when so many bytes have been read; 0 is at once.
        public static func reset(afterBytes count: Int) -> Plan { Plan(choice: .end(afterBytes: count, byReset: true)) }

        /// Closes the connection when so many bytes have been read; 0 is at once.
        public static func close(afterBytes count: Int) -> Plan {
            Plan(choice: .end(afterBytes: count, byReset: false))
        }

        /// Accepts and neither reads nor writes.
        public static let stall = Plan(choice: .stall)

        /// Leaves the connection to a function, which runs on the connection's own thread and may block.
        public static func raw(_ serve: @escaping @Sendable (Connection) -> Void) -> Plan { Plan(choice: .raw(serve)) }
    }
}
