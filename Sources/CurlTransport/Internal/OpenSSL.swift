import Glibc

/// What is asked of the OpenSSL that libcurl has loaded, where it has; this module is not linked with it.
///
/// The functions are there in versions 1.1 and 3, with these types. A session is that of a connection that libcurl has not
/// closed; all is called on the loop's thread.
@safe
struct OpenSSL {
    private typealias Session = UnsafeMutableRawPointer
    private typealias Channel = UnsafeMutableRawPointer
    private typealias Kind = UnsafeRawPointer
    private typealias Text = UnsafePointer<UInt8>
    private typealias Agreement =
        @convention(c) (Session, UnsafeMutablePointer<Text?>, UnsafeMutablePointer<UInt32>) -> Void
    private typealias State = @convention(c) (Session) -> Int32
    private typealias Write = @convention(c) (Session, Channel) -> Void
    private typealias Read = @convention(c) (Session, UnsafeMutableRawPointer?, Int32) -> Int32

    private let shutdownState: State
    private let selectedProtocol: Agreement
    private let read: Read
    private let readFrom: @convention(c) (Session, Int32) -> Int32
    private let writeInto: Write
    private let makeChannel: @convention(c) (Kind) -> Channel?
    private let noChannel: @convention(c) () -> Kind?
    private let stopThread: (@convention(c) () -> Void)?

    /// The functions; nil where libcurl uses another library for TLS.
    static let loaded = OpenSSL()

    private init?() {
        guard let shutdownState = unsafe Self.function("SSL_get_shutdown", as: State.self),
            let selectedProtocol = unsafe Self.function("SSL_get0_alpn_selected", as: Agreement.self),
            let read = unsafe Self.function("SSL_read", as: Read.self),
            let readFrom = unsafe Self.function("SSL_set_rfd", as: (@convention(c) (Session, Int32) -> Int32).self),
            let writeInto = unsafe Self.function("SSL_set0_wbio", as: Write.self),
            let makeChannel = unsafe Self.function("BIO_new", as: (@convention(c) (Kind) -> Channel?).self),
            let noChannel = unsafe Self.function("BIO_s_null", as: (@convention(c) () -> Kind?).self)
        else { return nil }
        unsafe self.shutdownState = shutdownState
        unsafe self.selectedProtocol = selectedProtocol
        unsafe self.read = read
        unsafe self.readFrom = readFrom
        unsafe self.writeInto = writeInto
        unsafe self.makeChannel = makeChannel
        unsafe self.noChannel = noChannel
        stopThread = Self.function("OPENSSL_thread_stop", as: (@convention(c) () -> Void).self)
    }

    /// Lets go of what is kept for the thread that calls.
    func leaveThread() {
        stopThread?()
    }

    private static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        unsafe dlsym(nil, name).map { unsafe unsafeBitCast($0, to: type) }
    }

    /// Whether the peer has said that it sends nothing more (close_notify).
    func hasReceivedShutdown(_ session: UnsafeMutableRawPointer) -> Bool {
        unsafe shutdownState(session) & 2 != 0
    }

    /// Whether the two have agreed on HTTP/2.
    func speaksHTTP2(_ session: UnsafeMutableRawPointer) -> Bool {
        var (text, count) = unsafe (Text?.none, UInt32.zero)
        unsafe selectedProtocol(session, &text, &count)
        // The session keeps the bytes for as long as it lives.
        return unsafe UnsafeBufferPointer(start: text, count: Int(count)).elementsEqual("h2".utf8)
    }

    /// What has come on a connection that is over and was not read; nothing if that is too much.
    ///
    /// From here on the session reads from the socket itself, and what it would write goes nowhere: libcurl's own way there is
    /// open only while libcurl itself reads and writes.
    func unread(_ session: UnsafeMutableRawPointer, on socket: Int32, atMost longest: Int) -> [UInt8] {
        guard let kind = unsafe noChannel(), let channel = unsafe makeChannel(kind) else { return [] }
        unsafe writeInto(session, channel)
        guard unsafe readFrom(session, socket) == 1 else { return [] }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            // The buffer has room for as many bytes as are asked for.
            let count = unsafe part.withUnsafeMutableBytes { buffer in
                unsafe read(session, buffer.baseAddress, Int32(buffer.count))
            }
            if count <= 0 { return bytes }
            bytes += part.prefix(Int(count))
            if bytes.count > longest { return [] }
        }
    }
}
