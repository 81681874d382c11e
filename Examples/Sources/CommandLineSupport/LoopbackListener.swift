import Dispatch
import Glibc
import HTTPRecovery
import Locking

/// Waits on this machine for the browser that comes back at a redirect URI (RFC 8252 section 7.3).
///
/// It listens on the loopback interface alone, answers the first request for the URI's path with a page that says that
/// the window can be closed, and anything else with 404. It stops listening when it is let go.
public final class LoopbackListener: Sendable {
    /// The redirect URI, with the port that is listened at.
    public let uri: String

    /// The URLs at which browsers came back; one is enough.
    private let visits: AsyncStream<String>
    private let server: Server

    /// Whether a redirect URI leads to this machine, so that a program can listen there.
    public static func isLocal(_ uri: String) -> Bool {
        (try? place(of: uri)) != nil
    }

    /// Begins to listen.
    ///
    /// - Parameter uri: The redirect URI, such as `http://127.0.0.1:8400/callback`; without a port, or with port 0, one that
    ///   is free is taken, as providers allow for loopback addresses.
    /// - Throws: ``InvalidOption`` for a URI that leads elsewhere; ``FileError`` if the port cannot be listened at.
    public init(uri: String) throws {
        let (request, port, isIPv6) = try Self.place(of: uri)
        let listener = try Socket.listen(port: port, isIPv6: isIPv6)
        let path = request.path.map { $0.prefix { $0 != "?" && $0 != "#" } } ?? "/"
        let origin = "http://\(Self.host(of: request)):\(listener.port)"
        self.uri = origin + path
        let (stream, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(1))
        visits = stream
        server = Server(listener, path: String(path)) { continuation.yield(origin + $0) }
    }

    deinit {
        server.stop()
    }

    /// The URL at which the browser came back, with all that was sent along.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func visit() async throws -> String {
        for await url in visits { return url }
        throw CancellationError()
    }

    private static func host(of request: HTTPRequest) -> String {
        let authority = request.authority ?? ""
        if authority.hasPrefix("[") { return "[::1]" }
        return authority.split(separator: ":").first.map(String.init) ?? ""
    }

    private static func place(of uri: String) throws -> (request: HTTPRequest, port: UInt16, isIPv6: Bool) {
        guard let request = try? HTTPRequest(url: uri), request.scheme == "http", let authority = request.authority
        else {
            throw elsewhere
        }
        let host = host(of: request)
        guard ["127.0.0.1", "localhost", "[::1]"].contains(host) else { throw elsewhere }
        let rest = authority.dropFirst(host.count)
        guard rest.isEmpty || rest.hasPrefix(":"), let port = UInt16(rest.isEmpty ? "0" : rest.dropFirst()) else {
            throw elsewhere
        }
        return (request, port, host == "[::1]")
    }

    private static let elsewhere = InvalidOption(
        "--redirect-uri: to be listened at here it has to begin with http://127.0.0.1, http://[::1] or http://localhost"
    )
}

/// The listening socket.
private struct Socket {
    let descriptor: Int32
    let port: UInt16

    static func listen(port: UInt16, isIPv6: Bool) throws -> Socket {
        let family = isIPv6 ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FileError("open", "a socket", code: errno) }
        var isOn: Int32 = 1
        // The option is the local value.
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        var bound: UInt16?
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            if bind(descriptor, &address) { bound = UInt16(bigEndian: address.sin6_port) }
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            if bind(descriptor, &address) { bound = UInt16(bigEndian: address.sin_port) }
        }
        guard let bound else {
            let code = errno
            close(descriptor)
            throw FileError("listen at", "port \(port)", code: code)
        }
        return Socket(descriptor: descriptor, port: bound)
    }

    /// Binds to the address, listens, and reads the address back, in which the port stands then.
    private static func bind<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        // The address is the local value, in the form that its family says, for the time of the calls.
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                var size = socklen_t(MemoryLayout<Address>.size)
                guard unsafe Glibc.bind(descriptor, general, size) == 0, Glibc.listen(descriptor, 16) == 0 else {
                    return false
                }
                return unsafe getsockname(descriptor, general, &size) == 0
            }
        }
    }
}

/// Reads requests from whoever connects, and answers each.
private final class Server: Sendable {
    /// A browser opens connections that it may never use: each is read when something comes.
    private struct State {
        var sources: [Int32: any DispatchSourceRead] = [:]
        var received: [Int32: [UInt8]] = [:]
    }

    /// More than the head of a request that a browser sends.
    private static let longestHead = 64 << 10
    private static let mostConnections = 64

    private let queue = DispatchQueue(label: "loopback-listener")
    private let state = Locked(State())
    private let path: String
    private let report: @Sendable (_ target: String) -> Void

    init(_ listener: Socket, path: String, report: @escaping @Sendable (String) -> Void) {
        self.path = path
        self.report = report
        watch(listener.descriptor) { [weak self] in self?.accept(listener.descriptor) }
    }

    func stop() {
        let sources = state.withLock { state in
            defer { state.sources = [:] }
            return state.sources.values
        }
        for source in sources { source.cancel() }
    }

    private func watch(_ descriptor: Int32, _ body: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler(handler: body)
        source.setCancelHandler { close(descriptor) }
        state.withLock { $0.sources[descriptor] = source }
        source.resume()
    }

    private func accept(_ listener: Int32) {
        while true {
            let descriptor = unsafe accept4(
                listener,
                nil,
                nil,
                Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            )
            guard descriptor >= 0 else { return }
            guard state.withLock({ $0.sources.count }) <= Self.mostConnections else {
                close(descriptor)
                continue
            }
            watch(descriptor) { [weak self] in self?.read(descriptor) }
        }
    }

    private func read(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        // The buffer outlives the call, which fills it.
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return drop(descriptor) }
        let head = state.withLock { state in
            state.received[descriptor, default: []] += buffer[..<count]
            return state.received[descriptor, default: []]
        }
        guard let target = Self.target(of: head) else {
            if head.count > Self.longestHead { drop(descriptor) }
            return
        }
        let isExpected = target.prefix { $0 != "?" } == path
        respond(descriptor, isExpected ? 200 : 404)
        if isExpected { report(target) }
    }

    /// The target of a request whose head is whole; an empty one for a method that only asks.
    private static func target(of head: [UInt8]) -> String? {
        let text = String(decoding: head, as: UTF8.self)
        guard text.contains("\r\n\r\n") else { return nil }
        let words = text.prefix { $0 != "\r\n" }.split(separator: " ")
        return words.count == 3 && words[0] == "GET" ? String(words[1]) : ""
    }

    private func respond(_ descriptor: Int32, _ status: Int) {
        let text =
            status == 200 ? "You can close this window, and go back to the program." : "There is nothing here."
        let page = "<!doctype html><meta charset=\"utf-8\"><title>auth-client</title><p>\(text)</p>"
        let answer = """
            HTTP/1.1 \(status) \(status == 200 ? "OK" : "Not Found")\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(page.utf8.count)\r
            Cache-Control: no-store\r
            Referrer-Policy: no-referrer\r
            Connection: close\r
            \r
            \(page)
            """
        // A page of this size fits the buffer of any socket.
        let bytes = Array(answer.utf8)
        _ = unsafe bytes.withUnsafeBytes {
            unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL.rawValue))
        }
        shutdown(descriptor, Int32(SHUT_WR))
        drop(descriptor)
    }

    private func drop(_ descriptor: Int32) {
        let source = state.withLock { state in
            state.received[descriptor] = nil
            return state.sources.removeValue(forKey: descriptor)
        }
        source?.cancel()
    }
}
