import Glibc

/// A port on 127.0.0.1 where connections are refused, for as long as the object lives.
///
/// The port is bound but not listened on, so no other program can take it meanwhile.
public final class RefusingPort: Sendable {
    /// The port's number.
    public let port: Int
    private let socket: Int32

    /// Takes a port.
    ///
    /// - Throws: ``FaultServer/StartError`` when the system gives no socket.
    public init() throws {
        do {
            let (socket, address) = try SocketAddress.loopback.bind()
            (self.socket, port) = (socket, address.port)
        } catch {
            throw FaultServer.StartError(errno: error.number)
        }
    }

    deinit {
        close(socket)
    }

    /// The authority for requests.
    public var authority: String { "127.0.0.1:\(port)" }
}
