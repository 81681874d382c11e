import Glibc
import HTTPRecoveryTesting

@testable import AuthSandbox

/// A blocking socket to the sandbox that sees what really comes over the wire.
final class RawSocket {
    /// How the server ended the connection.
    enum Ending: Equatable {
        case closed
        case reset
        /// It did not, within the time.
        case silent
    }

    private let descriptor: Int32

    init?(port: Int, timeoutMilliseconds: Int = 120_000) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var timeout = timeval(tv_sec: timeoutMilliseconds / 1000, tv_usec: timeoutMilliseconds % 1000 * 1000)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        SocketAddress.setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        let result = unsafe withUnsafePointer(to: name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { return nil }
    }

    deinit {
        _ = close(descriptor)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Sends a request with the least that HTTP/1.1 asks for.
    func request(_ method: String, _ target: String, form: String? = nil, json: String? = nil) {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: sandbox\r\n"
        if target.contains("_is_native") { head += "Authorization:\r\n" }
        if let body = form ?? json {
            let type = form == nil ? "application/json" : "application/x-www-form-urlencoded"
            head += "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        } else {
            head += "\r\n"
        }
        send(head)
    }

    private func receive() -> (bytes: [UInt8], ending: Ending?) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count > 0 { return (Array(buffer[..<count]), nil) }
        if count == 0 { return ([], .closed) }
        return ([], errno == ECONNRESET ? .reset : .silent)
    }

    /// Everything until the server ends the connection or the time is over.
    func readToEnd() -> (text: String, ending: Ending) {
        var bytes: [UInt8] = []
        while true {
            let (more, ending) = receive()
            bytes += more
            if let ending { return (String(decoding: bytes, as: UTF8.self), ending) }
        }
    }

    /// One whole answer by its Content-Length: its status and body; nil if it does not come.
    func readAnswer() -> (status: Int, head: String, body: String)? {
        var text = ""
        while true {
            if let end = text.utf8.firstRange(of: "\r\n\r\n".utf8) {
                let head = String(text[..<end.lowerBound])
                let body = text[end.upperBound...]
                let length =
                    head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
                    .flatMap { Int($0.dropFirst(16)) } ?? 0
                if body.utf8.count >= length {
                    return (Int(head.split(separator: " ")[1]) ?? 0, head, String(body))
                }
            }
            let (more, ending) = receive()
            if ending != nil { return nil }
            text += String(decoding: more, as: UTF8.self)
        }
    }
}
