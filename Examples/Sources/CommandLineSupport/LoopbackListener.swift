import Dispatch
import Glibc
import HTTPRecovery

/// Waits on this machine for the browser that comes back at a redirect URI (RFC 8252 section 7.3).
///
/// It listens on the loopback interface alone, answers the first request for the URI's path with a page that says that
/// the window can be closed, one for a page that it serves with that, and anything else with 404. It stops listening when it is
/// let go.
public final class LoopbackListener: Sendable {
    /// The redirect URI, with the port that is listened at.
    public let uri: String

    /// The URLs at which browsers came back; one is enough.
    private let visits: AsyncStream<String>
    private let server: Server
    private let origin: String

    /// Whether a redirect URI leads to this machine, so that a program can listen there.
    public static func isLocal(_ uri: String) -> Bool {
        (try? Place(uri)) != nil
    }

    /// Where an authorization request wants the browser to come back; nil if it does not say.
    public static func redirectURI(in url: String) -> String? {
        parameter("redirect_uri", in: url)
    }

    /// A parameter of a URL's query; nil if it is not there.
    fileprivate static func parameter(_ name: String, in url: String) -> String? {
        let query = url.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst().prefix { $0 != UInt8(ascii: "#") }
        let fields = query.split(separator: UInt8(ascii: "&"))
        guard let field = fields.first(where: { $0.starts(with: "\(name)=".utf8) }) else { return nil }
        return String(decoding: PercentEncoding.decode(field.dropFirst(name.utf8.count + 1)), as: UTF8.self)
    }

    /// Begins to listen.
    ///
    /// - Parameter uri: The redirect URI, such as `http://127.0.0.1:8400/callback`; without a port, or with port 0, one that
    ///   is free is taken, as providers allow for loopback addresses.
    /// - Throws: ``InvalidOption`` for a URI that leads elsewhere; ``FileError`` if the port cannot be listened at.
    public init(uri: String) throws {
        let place = try Place(uri)
        let listener = try Socket.listen(port: place.port, isIPv6: place.host.hasPrefix("["))
        let origin = "http://\(place.host):\(listener.port)"
        self.origin = origin
        self.uri = origin + place.path
        let (stream, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(1))
        visits = stream
        server = Server(listener, path: place.path) { continuation.yield(origin + $0) }
    }

    deinit {
        server.stop()
    }

    /// Serves a page, in HTML, at an address that nobody can guess.
    ///
    /// - Returns: The address.
    public func serve(_ page: String) -> String {
        var random = SystemRandomNumberGenerator()
        let name = "/\(String(random.next(), radix: 36))\(String(random.next(), radix: 36))"
        server.serve(page, at: name)
        return origin + name
    }

    /// The URL at which the browser came back, with all that was sent along.
    ///
    /// - Parameter url: The authorization request that sends the browser here; nil for one that does not say so. Whatever comes with
    ///   another `state` than it has (RFC 6749 section 10.12), as an old tab does, is told so and passed over.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func visit(after url: String? = nil) async throws -> String {
        let state = url.flatMap { Self.redirectURI(in: $0) == nil ? nil : Self.parameter("state", in: $0) }
        server.expect(state)
        for await visit in visits where state == nil || Self.parameter("state", in: visit) == state { return visit }
        throw CancellationError()
    }
}

/// Where a redirect URI leads on this machine.
private struct Place {
    let host: String
    /// 0 if any will do.
    let port: UInt16
    let path: String

    init(_ uri: String) throws(InvalidOption) {
        let hosts = ["127.0.0.1", "localhost", "[::1]"]
        guard let host = hosts.first(where: { uri.hasPrefix("http://\($0)") }) else { throw Self.elsewhere }
        self.host = host
        let rest = uri.dropFirst("http://".count + host.count)
        let port = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard port.isEmpty || port.hasPrefix(":"), let number = UInt16(port.isEmpty ? "0" : port.dropFirst()) else {
            throw Self.elsewhere
        }
        self.port = number
        let path = rest.dropFirst(port.count).prefix { $0 != "?" && $0 != "#" }
        self.path = path.isEmpty ? "/" : String(path)
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
            throw FileError("listened at", "port \(port)", code: code)
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
///
/// `@unchecked Sendable` is right because all that changes is reached on the queue alone, one piece of work at a time.
private final class Server: @unchecked Sendable {
    /// More than the head of a request that a browser sends.
    private static let longestHead = 64 << 10
    private static let mostConnections = 64

    private let queue = DispatchQueue(label: "loopback-listener")
    /// A browser opens connections that it may never use: each is read when something comes.
    private var sources: [Int32: any DispatchSourceRead] = [:]
    private var received: [Int32: [UInt8]] = [:]
    private let path: String
    /// The pages that are served, by their paths.
    private var pages: [[UInt8]: String] = [:]
    private let report: @Sendable (_ target: String) -> Void
    /// What a visit has to bring along; nil if anything will do.
    private var state: String?

    init(_ listener: Socket, path: String, report: @escaping @Sendable (String) -> Void) {
        self.path = path
        self.report = report
        queue.async { self.watch(listener.descriptor) { $0.accept(listener.descriptor) } }
    }

    func serve(_ page: String, at path: String) {
        queue.async { self.pages[Array(path.utf8)] = page }
    }

    func expect(_ state: String?) {
        queue.async { self.state = state }
    }

    func stop() {
        queue.async {
            for source in self.sources.values { source.cancel() }
            self.sources = [:]
        }
    }

    private func watch(_ descriptor: Int32, _ body: @escaping @Sendable (Server) -> Void) {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in self.map(body) }
        source.setCancelHandler { close(descriptor) }
        sources[descriptor] = source
        source.resume()
    }

    private func accept(_ listener: Int32) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            guard sources.count <= Self.mostConnections else {
                close(descriptor)
                continue
            }
            watch(descriptor) { $0.read(descriptor) }
        }
    }

    private func read(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        // The buffer outlives the call, which fills it.
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return drop(descriptor) }
        received[descriptor, default: []] += buffer[..<count]
        let head = received[descriptor, default: []]
        guard let target = Self.target(of: head) else {
            if head.count > Self.longestHead { drop(descriptor) }
            return
        }
        if let page = pages[target] { return respond(descriptor, 200, page) }
        let isHere = target.prefix { $0 != UInt8(ascii: "?") }.elementsEqual(path.utf8)
        let brought = LoopbackListener.parameter("state", in: String(decoding: target, as: UTF8.self))
        let isExpected = isHere && (state == nil || brought == state)
        let text =
            isExpected
            ? "You can close this window, and go back to the program."
            : isHere ? "This is not the sign-in that is waited for." : "There is nothing here."
        let page = "<!doctype html><meta charset=\"utf-8\"><title>auth-client</title><p>\(text)</p>"
        respond(descriptor, isExpected ? 200 : 404, page)
        if isExpected { report(String(decoding: target, as: UTF8.self)) }
    }

    /// The target of a request whose head is whole; an empty one for a method that only asks.
    ///
    /// Byte by byte: a sign that joins a character must not hide where a line ends.
    private static func target(of head: [UInt8]) -> [UInt8]? {
        let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        let lines = head.split(separator: lineFeed, omittingEmptySubsequences: false)
        // What stands behind the last line end is no line yet.
        guard lines.dropLast().contains(where: { $0 == [carriageReturn] || $0.isEmpty }) else { return nil }
        let words = lines[0].prefix { $0 != carriageReturn }.split(separator: UInt8(ascii: " "))
        return words.count == 3 && words[0].elementsEqual("GET".utf8) ? Array(words[1]) : []
    }

    private func respond(_ descriptor: Int32, _ status: Int, _ page: String) {
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
        var bytes = Array(answer.utf8)[...]
        while !bytes.isEmpty {
            // The bytes outlive the call, which reads them.
            let count = unsafe bytes.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR, errno != EAGAIN || !canWrite(descriptor) {
                break
            }
        }
        shutdown(descriptor, Int32(SHUT_WR))
        drop(descriptor)
    }

    /// Waits until a socket takes more, for as long as a browser on this machine may need.
    private func canWrite(_ descriptor: Int32) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // The structure is the local value.
        return unsafe poll(&wanted, 1, 2000) > 0
    }

    private func drop(_ descriptor: Int32) {
        received[descriptor] = nil
        sources.removeValue(forKey: descriptor)?.cancel()
    }
}
