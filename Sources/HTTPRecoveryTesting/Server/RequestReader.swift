/// Reads requests from a connection.
package struct RequestReader {
    private let connection: FaultServer.Connection
    private var parser: RequestParser

    /// - Parameters:
    ///   - connection: From where.
    ///   - maximumBodyLength: How long a body may be.
    package init(_ connection: FaultServer.Connection, maximumBodyLength: Int) {
        self.connection = connection
        parser = RequestParser(maximumBodyLength: maximumBodyLength)
    }

    /// The head of the next request; nil when there is none.
    package mutating func head() -> RequestParser.Head? {
        parser.dropHead()
        while let outcome = parser.nextHead() {
            guard case .incomplete = outcome, readMore() else { return nil }
        }
        if let head = parser.head { connection.recordHead(ofCall: head.header(CallLedger.field)) }
        return parser.head
    }

    /// The request whose head was read, or the next one.
    ///
    /// - Returns: The request, or why it is none; `incomplete` when the client leaves before its end.
    package mutating func request() -> RequestParser.Outcome {
        while true {
            let outcome = parser.next()
            switch outcome {
            case .incomplete:
                guard readMore() else { return .incomplete }
            case .expectsContinue: connection.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            default: return outcome
            }
        }
    }

    /// Hands over the body of the request whose head was read, piece by piece as it comes.
    ///
    /// - Returns: Whether it has come to its end; false also when a piece is not taken.
    mutating func eachPiece(_ take: ([UInt8]) -> Bool) -> Bool {
        var count = 0
        while true {
            let outcome = parser.next()
            let body = if case .request(_, let whole) = outcome { whole } else { parser.bodySoFar }
            if body.count > count, !take(Array(body[count...])) { return false }
            count = body.count
            switch outcome {
            case .request: return true
            case .incomplete: guard readMore() else { return false }
            case .expectsContinue: connection.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            case .invalid: return false
            }
        }
    }

    private mutating func readMore() -> Bool {
        guard let bytes = connection.read() else { return false }
        parser.append(bytes)
        return true
    }
}
