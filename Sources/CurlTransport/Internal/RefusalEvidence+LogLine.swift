import HTTPRecovery

extension RefusalEvidence {
    /// What a line of libcurl's log says.
    ///
    /// The log also holds what others have written: the request's path and fields (`h2h3 [:path: …]`, and from 8.1 on
    /// `[HTTP/2] [1] [:path: …]`), the names in a certificate, the server's reasons. A line therefore counts only if
    /// the whole of it, from its first byte to its last, is one of libcurl's own; none of those begins like the others.
    enum LogLine: Equatable {
        case refused
        case retrying
        case stream(Int)
        case goAway(lastStream: Int)
        /// What the server has chosen for a new connection.
        case negotiated(isHTTP2: Bool)
        /// `[HTTP2] [3] received invalid frame: …`, as no other line begins.
        case invalidFrame
        /// nghttp2 takes nothing more on the connection, as the server has broken the protocol.
        case sessionEnded
        case failure
        case other

        /// Reads a line, which may end in a line feed; the bytes are not kept.
        init(_ bytes: UnsafeBufferPointer<UInt8>) {
            var line = unsafe LogLineReader(bytes)
            switch line.first {
            case UInt8(ascii: "U"):
                // Using Stream ID: 7 (easy handle 0x55d0)
                guard line.take("Using Stream ID: "), let id = line.takeNumber(), line.take(" (easy handle 0x"),
                    line.takeHexadecimal(), line.take(")"), line.isAtEnd
                else { break }
                self = .stream(id)
                return
            case UInt8(ascii: "r"):
                // recveived GOAWAY, error=0, last_stream=3 (the word is spelt right from 8.1 on)
                guard line.take("recveived GOAWAY, error=") || line.take("received GOAWAY, error=") else { break }
                line.skip("-")
                guard line.takeNumber() != nil, line.take(", last_stream="), let last = line.takeNumber(), line.isAtEnd
                else { break }
                self = .goAway(lastStream: last)
                return
            case UInt8(ascii: "R"):
                guard line.take("REFUSED_STREAM, retrying a fresh connect"), line.isAtEnd else { break }
                self = .refused
                return
            case UInt8(ascii: "C"):
                // Connection died, retrying a fresh connect (retry count: 1)
                guard line.take("Connection died, retrying a fresh connect (retry count: "),
                    line.takeNumber() != nil, line.take(")"), line.isAtEnd
                else { break }
                self = .retrying
                return
            case UInt8(ascii: "H"):
                // HTTP/2 stream 1 refused by server, try again on a new connection
                guard line.take("HTTP/2 stream "), line.takeNumber() != nil,
                    line.take(" refused by server, try again on a new connection"), line.isAtEnd
                else { break }
                self = .refused
                return
            case UInt8(ascii: "h"):
                if line.take("h2h3 [") {
                    self = .other
                    return
                }
            case UInt8(ascii: "n"):
                // nghttp2 shuts down connection with error 1: PROTOCOL_ERROR
                guard line.take("nghttp2 shuts down connection with error "), line.takeNumber() != nil, line.take(": "),
                    line.takeName(), line.isAtEnd
                else { break }
                self = .sessionEnded
                return
            case UInt8(ascii: "["):
                // [HTTP/2] [7] OPENED stream for https://… (the URL is the caller's, and comes last)
                if line.take("[HTTP/2] ["), let id = line.takeNumber(), line.take("] OPENED stream for ") {
                    self = .stream(id)
                } else {
                    self = line.take("[HTTP2] [") ? .invalidFrame : .other
                }
                return
            case UInt8(ascii: "A"):
                // ALPN: server accepted h2
                guard line.take("ALPN: server ") else { break }
                if line.take("accepted h2") || line.take("accepted h3"), line.isAtEnd {
                    self = .negotiated(isHTTP2: true)
                } else if line.take("accepted http/1.") || line.take("did not agree on a protocol. Uses default.") {
                    self = .negotiated(isHTTP2: false)
                } else {
                    break
                }
                return
            default: break
            }
            // A sign of a failure only ever takes a proof away, so any line may hold one.
            self = line.holdsSignOfFailure ? .failure : .other
        }
    }
}

/// Reads a line from its start; a part that does not match is not taken.
///
/// It lives within the call that has the bytes, and looks at none past their end.
@safe
private struct LogLineReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var end: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        unsafe self.bytes = bytes
        end = bytes.count
        while end > 0, byte(at: end - 1) == 0x0a || byte(at: end - 1) == 0x0d { end -= 1 }
    }

    var first: UInt8? { end > 0 ? byte(at: 0) : nil }
    var isAtEnd: Bool { position == end }

    mutating func take(_ text: StaticString) -> Bool {
        guard matches(text, at: position) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    mutating func skip(_ text: StaticString) {
        _ = take(text)
    }

    mutating func takeNumber() -> Int? {
        let start = position
        var number = 0
        // libcurl's numbers have 32 bits.
        while position < end, position - start < 10, byte(at: position).isDigit {
            number = number * 10 + Int(byte(at: position) - 0x30)
            position += 1
        }
        return position > start ? number : nil
    }

    mutating func takeHexadecimal() -> Bool {
        let start = position
        while position < end, byte(at: position).hexDigitValue != nil { position += 1 }
        return position > start
    }

    /// The name of one of HTTP/2's error codes.
    mutating func takeName() -> Bool {
        let start = position
        while position < end {
            guard byte(at: position).isUppercase || byte(at: position) == UInt8(ascii: "_") else { break }
            position += 1
        }
        return position > start
    }

    /// Whether words stand anywhere in the line that libcurl and its TLS library use when something goes wrong.
    var holdsSignOfFailure: Bool {
        var index = 0
        while index < end {
            switch byte(at: index) {
            case UInt8(ascii: "r") where matches("rror", at: index): return true
            case UInt8(ascii: "a") where matches("ailed", at: index) || matches("ailure", at: index): return true
            case UInt8(ascii: "a") where matches("alert", at: index): return true
            case UInt8(ascii: "c") where matches("cleanly", at: index): return true
            case UInt8(ascii: "m") where matches("mem_recv", at: index): return true
            case UInt8(ascii: "S") where matches("SSL_read", at: index): return true
            default: index += 1
            }
        }
        return false
    }

    private func matches(_ text: StaticString, at index: Int) -> Bool {
        guard end - index >= text.utf8CodeUnitCount else { return false }
        for offset in 0..<text.utf8CodeUnitCount {
            // The literal has so many bytes.
            let expected = unsafe text.utf8Start[offset]
            if byte(at: index + offset) != expected { return false }
        }
        return true
    }

    /// The byte at an index below `end`.
    private func byte(at index: Int) -> UInt8 {
        unsafe bytes[index]
    }
}
