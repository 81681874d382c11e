// The servers of a soak, of whose answers more than half are faults.
extension TransportSoak {
    static func http1Server() throws -> FaultServer {
        let large = [UInt8](repeating: 7, count: 300_000)
        return try FaultServer(
            plan: { number in
                switch number % 20 {
                case 0: .reset(afterBytes: 10)
                case 1: .close(afterBytes: 40)
                case 2: .stall
                case 3: .answerWithoutReadingBodies
                default: .serve
                }
            },
            reply: { request in
                switch (Int(request.path.dropFirst()) ?? 0) % 16 {
                case 0: .stall
                case 1: .close
                case 2: .reset
                case 3: .shortBody
                case 4: .truncatedChunks
                case 5: .resetInBody
                case 6: .garbage
                case 7: .finInHeaders
                case 8: .raw("HTTP/1.1 200 OK\r\n\r\n").then(.endless("more and more"))
                case 9: .answer(413, headers: [("Connection", "close")], body: "too large")
                case 10, 11: .answer(bytes: large)
                default: .answer(body: "fine")
                }
            }
        )
    }

    /// What ends a connection, and with it all that is under way there, is rarer.
    static func http2Server() throws -> FaultServer {
        try FaultServer.http2 { stream, index in
            switch index % 40 {
            case 1: .init(then: .close)
            case 8: .init(then: .reset)
            case 15: .init(Array("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n".utf8))
            case 22: .init(HTTP2Frame.goAway(lastStream: stream) + HTTP2Frame.ok(stream))
            case 29: .init(HTTP2Frame.goAway(lastStream: 0), then: .close)
            case 36: .init(then: .endless(HTTP2Frame.headers(stream, status: "103", endsStream: false)))
            case 3, 13, 23: .init()
            case 5, 25: .init(HTTP2Frame.beginning(stream))
            case 6, 16: .init(HTTP2Frame.reset(stream, code: 7))
            case 7, 17, 27: .init(HTTP2Frame.beginning(stream) + HTTP2Frame.reset(stream, code: 8))
            case 9, 19: .init(HTTP2Frame.beginning(stream) + HTTP2Frame.data(stream, [], endsStream: true))
            case 11, 31: .init(HTTP2Frame.headers(stream, status: "413", endsStream: true))
            default: .init(HTTP2Frame.beginning(stream) + HTTP2Frame.data(stream, "defghi".utf8, endsStream: true))
            }
        }
    }
}
