/// The few frames that servers of faults need (RFC 9113, section 6), written by hand.
package struct HTTP2Frame: Sendable {
    package var type: UInt8
    package var flags: UInt8
    package var stream: UInt32
    package var payload: [UInt8]

    package init(type: UInt8, flags: UInt8, stream: UInt32, payload: [UInt8] = []) {
        (self.type, self.flags, self.stream, self.payload) = (type, flags, stream, payload)
    }

    /// Whether it is the last frame of its stream: END_STREAM on HEADERS or DATA.
    package var endsStream: Bool { type <= 1 && flags & 1 == 1 }

    package static let settings = bytes(type: 4, flags: 0, stream: 0, [])
    package static let settingsAck = bytes(type: 4, flags: 1, stream: 0, [])

    /// HEADERS with `:status: 200` (index 8 of HPACK's static table), ending headers and stream.
    package static func ok(_ stream: UInt32) -> [UInt8] { headers(stream, endsStream: true) }

    /// HEADERS of an answer, and CONTINUATION of what is too large for one frame.
    ///
    /// Fields are literals that no table keeps; their names must be in lower case.
    package static func headers(
        _ stream: UInt32,
        status: String? = nil,
        _ fields: [(name: String, value: String)] = [],
        endsStream: Bool
    ) -> [UInt8] {
        // Literal without indexing: the name's index, or 0 and the name; 8 is `:status`.
        let first: [UInt8] = status.map { [0x08, UInt8(truncatingIfNeeded: $0.utf8.count)] + $0.utf8 } ?? [0x88]
        return block(stream, first + literals(fields), endsStream: endsStream)
    }

    /// HEADERS behind the body, which end the stream.
    package static func trailers(_ stream: UInt32, _ fields: [(name: String, value: String)]) -> [UInt8] {
        block(stream, literals(fields), endsStream: true)
    }

    /// The frames of a header block; the largest that every client takes has 16 KiB.
    private static func block(_ stream: UInt32, _ block: [UInt8], endsStream: Bool) -> [UInt8] {
        var (frames, rest) = ([UInt8](), block[...])
        var (type, flags): (UInt8, UInt8) = (1, endsStream ? 1 : 0)
        repeat {
            let fragment = rest.prefix(16_384)
            rest = rest.dropFirst(fragment.count)
            frames += bytes(type: type, flags: rest.isEmpty ? flags | 4 : flags, stream: stream, Array(fragment))
            (type, flags) = (9, 0)
        } while !rest.isEmpty
        return frames
    }

    /// The fields as a part of a header block (RFC 7541, section 6.2.2).
    package static func literals(_ fields: [(name: String, value: String)]) -> [UInt8] {
        fields.flatMap { [0] + string($0.name) + string($0.value) }
    }

    private static func string(_ text: String) -> [UInt8] {
        let count = text.utf8.count
        if count < 127 { return [UInt8(count)] + text.utf8 }
        var (length, rest): ([UInt8], Int) = ([127], count - 127)
        while rest >= 128 {
            length.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return length + [UInt8(rest)] + text.utf8
    }

    package static func data(_ stream: UInt32, _ content: some Sequence<UInt8>, endsStream: Bool) -> [UInt8] {
        bytes(type: 0, flags: endsStream ? 1 : 0, stream: stream, Array(content))
    }

    package static func reset(_ stream: UInt32, code: UInt32) -> [UInt8] {
        bytes(type: 3, flags: 0, stream: stream, big(code))
    }

    package static func goAway(lastStream: UInt32, code: UInt32 = 0) -> [UInt8] {
        bytes(type: 7, flags: 0, stream: 0, big(lastStream) + big(code))
    }

    /// The next frame; nil when the client has left.
    package static func read(from connection: FaultServer.Connection) -> HTTP2Frame? {
        guard let head = connection.read(exactly: 9) else { return nil }
        let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        let stream = UInt32(head[5] & 0x7f) << 24 | UInt32(head[6]) << 16 | UInt32(head[7]) << 8 | UInt32(head[8])
        guard let payload = length == 0 ? [] : connection.read(exactly: length) else { return nil }
        return HTTP2Frame(type: head[3], flags: head[4], stream: stream, payload: payload)
    }

    package static func bytes(type: UInt8, flags: UInt8, stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        let length = UInt32(truncatingIfNeeded: payload.count)
        return Array(big(length).dropFirst()) + [type, flags] + big(stream) + payload
    }

    package static func big(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
}
