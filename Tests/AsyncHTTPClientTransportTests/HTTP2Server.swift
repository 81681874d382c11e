#if AsyncHTTPClient
import HTTPRecoveryTesting

/// A server of HTTP/2 frames written by hand, to be put behind TLS.
enum HTTP2Server {
    /// Serves one connection: `answer` gets each stream's number and returns the frames to send.
    static func start(_ answer: @escaping @Sendable (UInt32) -> [UInt8]?) throws -> FaultServer {
        try FaultServer(
            plan: { _ in
                .raw { connection in
                    guard connection.read(exactly: 24) != nil else { return }
                    connection.write(Frame.settings)
                    while let frame = Frame.read(from: connection) {
                        if frame.type == 4, frame.flags & 1 == 0 { connection.write(Frame.settingsAck) }
                        // The request is whole with END_STREAM, on HEADERS or DATA.
                        if frame.type <= 1, frame.flags & 1 == 1 {
                            connection.record(.init(method: "", path: "/\(frame.stream)", connection: connection.id))
                            guard let bytes = answer(frame.stream) else { return connection.close() }
                            connection.write(bytes)
                        }
                    }
                }
            },
            reply: { _ in .answer() }
        )
    }
}

/// The few frames that the tests need (RFC 9113, section 6).
struct Frame {
    var type: UInt8
    var flags: UInt8
    var stream: UInt32

    static let settings = bytes(type: 4, flags: 0, stream: 0, [])
    static let settingsAck = bytes(type: 4, flags: 1, stream: 0, [])

    /// HEADERS with `:status: 200` (index 8 of HPACK's static table), ending headers and stream.
    static func ok(_ stream: UInt32) -> [UInt8] { bytes(type: 1, flags: 5, stream: stream, [0x88]) }

    static func reset(_ stream: UInt32, code: UInt32) -> [UInt8] { bytes(type: 3, flags: 0, stream: stream, big(code)) }

    static func goAway(lastStream: UInt32) -> [UInt8] {
        bytes(type: 7, flags: 0, stream: 0, big(lastStream) + big(0))
    }

    static func read(from connection: FaultServer.Connection) -> Frame? {
        guard let head = connection.read(exactly: 9) else { return nil }
        let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        let stream = UInt32(head[5] & 0x7f) << 24 | UInt32(head[6]) << 16 | UInt32(head[7]) << 8 | UInt32(head[8])
        guard length == 0 || connection.read(exactly: length) != nil else { return nil }
        return Frame(type: head[3], flags: head[4], stream: stream)
    }

    private static func bytes(type: UInt8, flags: UInt8, stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        let length = UInt32(payload.count)
        return Array(big(length).dropFirst()) + [type, flags] + big(stream) + payload
    }

    private static func big(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
}
#endif
