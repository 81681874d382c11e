#if Redis
/// What somebody has published on a channel that the connection listens to; it answers no command.
struct Message {
    var channel: [UInt8]
    var payload: [UInt8]

    /// Reads a reply; nil if it is the answer to a command.
    init?(_ reply: Reply) {
        guard case .array(let elements) = reply, elements.count == 3, case .bytes(let kind) = elements[0],
            kind == Array("message".utf8), case .bytes(let channel) = elements[1],
            case .bytes(let payload) = elements[2]
        else { return nil }
        self.channel = channel
        self.payload = payload
    }
}
#endif
