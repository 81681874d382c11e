import CCurl
import HTTPRecovery

/// A pooled easy handle: what never changes is set once, what a request says is set for each.
///
/// It is confined to the loop's thread. libcurl holds an unretained pointer to it; it outlives its handle because the
/// loop keeps it in the pool or in the transfer until `destroy`.
@safe
final class EasyHandle {
    let handle: UnsafeMutableRawPointer
    /// The transfer it carries.
    var transfer: Transfer?
    /// The loop gives all its handles up before it ends.
    let loop: EventLoop
    /// What the callbacks are given, and where they put what comes.
    let receiving: UnsafeMutablePointer<ReceivingContext>
    private let errorText: UnsafeMutablePointer<CChar>
    // Each access to these two is over at once, and not checked at run time.
    /// The URL of the present request, or of the last one; nil if it was given to libcurl as a text.
    @safe @exclusivity(unchecked) private var url: ParsedURL?
    /// The header list of the present request.
    @safe @exclusivity(unchecked) private var headers = HeaderList()
    private var decodes = false
    private var version: Int = -1
    private var isShared = false
    /// Whether libcurl reports its log, which it does if HTTP/2 may be spoken.
    private(set) var logs = false
    private var isCustom = false
    private var hasTarget = false
    private var isOnNewConnection = false
    private var bufferSize = 0
    private var savedAnswer: SavedAnswer?
    private(set) var isWatched = false
    /// How often libcurl has told its progress before the request was out.
    private var stepsBeforeRequest = 0
    /// The socket of the connection that the request went out on; before that, the one whose events libcurl wants.
    ///
    /// It is -1 until libcurl wants any. Of the Unix domain also once the request is out, since such sockets have no ends that would
    /// tell them apart. What libcurl itself says of it comes only when it is done with it.
    var socket: Int32 = -1

    init?(loop: EventLoop) {
        guard let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = handle
        self.loop = loop
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe receiving = .allocate(capacity: 1)
        unsafe receiving.initialize(
            to: ReceivingContext(
                easy: .passUnretained(self),
                maxHeaderBytes: loop.configuration.maxHeaderBytes,
                knownLines: loop.knownLines
            )
        )
        configure()
    }

    func destroy() {
        unsafe curl_easy_cleanup(handle)
        headers.free()
        unsafe errorText.deallocate()
        unsafe receiving.deinitialize(count: 1)
        unsafe receiving.deallocate()
        transfer = nil
    }

    /// Whether it is used for an answer that was saved from another's connection, and for nothing else.
    var readsSavedAnswer: Bool { savedAnswer != nil }

    /// libcurl's text about the failure.
    var detail: String {
        unsafe String(cString: errorText)
    }

    /// What the server says that the body's length is; nil if it does not.
    var statedLength: Int? {
        var length: curl_off_t = -1
        unsafe ccurl_get_offset(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length)
        return length >= 0 ? Int(length) : nil
    }

    /// Whether nothing but the end of its connection ends the body of the response, whose head is whole.
    var endsWithConnection: Bool {
        unsafe !receiving.pointee.reception.head.isFramed && statedLength == nil && !hasNoBody
    }

    /// Whether the response, whose head is whole, is over with that (RFC 9112, section 6.3).
    var hasNoBody: Bool {
        if transfer?.request.method == "HEAD" { return true }
        var status = 0
        unsafe ccurl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        return status == 204 || status == 304
    }

    /// Whether an idle connection of it has frames to read, and no answers to nobody's question.
    var speaksHTTP2: Bool {
        guard loop.mayUseHTTP2 else { return false }
        var version = 0
        unsafe ccurl_get_long(handle, CURLINFO_HTTP_VERSION, &version)
        // Who leaves before an answer does not know the version, but perhaps that others were on the connection.
        return version == 0 ? transfer?.origin?.isShared ?? false : version >= Int(CURL_HTTP_VERSION_2_0)
    }

    /// The socket of the connection that the transfer has left open, if libcurl has done with it and nobody watches it.
    var unwatchedSocket: Int32? {
        if socket >= 0, !loop.poller.isUnwatched(socket) { return nil }
        let socket = unsafe ccurl_get_socket(handle)
        return socket >= 0 ? socket : nil
    }

    /// Has the connection looked at before libcurl closes it, if it is one over TLS.
    func watch() {
        guard !isWatched, transfer?.request.isTLS == true, OpenSSL.loaded != nil else { return }
        isWatched = true
        set(CURLOPT_NOPROGRESS, 0)
    }

    /// Takes note that libcurl tells its progress; false if it may not go on.
    ///
    /// What a proxy says behind its refusal of a tunnel libcurl reads byte by byte to its end, unless the network is slower, and
    /// nothing else on the loop gets its turn meanwhile.
    func mayGoOn() -> Bool {
        guard let transfer, transfer.facts.wireAttempts == 0, !readsSavedAnswer else { return true }
        stepsBeforeRequest += 1
        if stepsBeforeRequest <= Self.longestProxyAnswer { return true }
        transfer.facts.ownReason = .endlessProxyAnswer
        return false
    }

    /// In bytes; pages of proxies have some KiB.
    private static let longestProxyAnswer = 262_144

    /// Whether a proxy has refused to lead on for what does not change by itself.
    var isRefusedByProxy: Bool {
        var (status, reason) = (0, 0)
        unsafe ccurl_get_long(handle, CURLINFO_HTTP_CONNECTCODE, &status)
        if (400..<500).contains(status) { return status != 408 && status != 429 }
        unsafe ccurl_get_long(handle, CURLINFO_PROXY_ERROR, &reason)
        return [CURLPX_NO_AUTH, CURLPX_USER_REJECTED, CURLPX_REPLY_NOT_ALLOWED].contains {
            $0.rawValue == UInt32(truncatingIfNeeded: reason)
        }
    }

    /// What TLS has for the connection, while the transfer has it and where the library is OpenSSL.
    var session: UnsafeMutableRawPointer? { unsafe ccurl_get_openssl(handle) }

    private func configure() {
        let configuration = loop.configuration
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe ccurl_set_pointer(handle, CURLOPT_PRIVATE, context)
        unsafe ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
        unsafe ccurl_set_data_callback(handle, CURLOPT_WRITEFUNCTION, writeCallback)
        unsafe ccurl_set_pointer(handle, CURLOPT_WRITEDATA, receiving)
        unsafe ccurl_set_data_callback(handle, CURLOPT_HEADERFUNCTION, headerCallback)
        unsafe ccurl_set_pointer(handle, CURLOPT_HEADERDATA, receiving)
        unsafe ccurl_set_data_callback(handle, CURLOPT_READFUNCTION, readCallback)
        unsafe ccurl_set_pointer(handle, CURLOPT_READDATA, context)
        unsafe ccurl_set_prereq_callback(handle, prereqCallback)
        unsafe ccurl_set_pointer(handle, CURLOPT_PREREQDATA, context)
        unsafe ccurl_set_progress_callback(handle, progressCallback)
        unsafe ccurl_set_pointer(handle, CURLOPT_XFERINFODATA, context)
        if mayUseProxy { set(CURLOPT_NOPROGRESS, 0) }
        // A connection outlives the easy handle, so its callbacks get the loop, which outlives both.
        let loopContext = unsafe Unmanaged.passUnretained(loop).toOpaque()
        unsafe ccurl_set_open_socket_callback(handle, openSocketCallback)
        unsafe ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, loopContext)
        unsafe ccurl_set_close_socket_callback(handle, closeSocketCallback)
        unsafe ccurl_set_pointer(handle, CURLOPT_CLOSESOCKETDATA, loopContext)
        // Each multi handle looks names up for itself, and each easy handle begins TLS sessions anew, unless they share.
        unsafe ccurl_set_pointer(handle, CURLOPT_SHARE, loop.share)

        // No signals in a process of many threads, and three system calls less each time that libcurl looks at the transfer.
        set(CURLOPT_NOSIGNAL, 1)
        // Without it the end of a transfer whose name is looked up holds the loop until the resolver has answered.
        set(CURLOPT_QUICK_EXIT, 1)
        // What a redirect may be given is decided above, where credentials are known.
        set(CURLOPT_FOLLOWLOCATION, 0)
        // The path is the caller's, dots and all: its signature may cover it.
        set(CURLOPT_PATH_AS_IS, 1)
        // The fields of a proxy's answer to CONNECT are not the server's.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // A large body goes out in pieces of this size, where libcurl's own are of 64 KiB; 2 MiB is its most.
        set(CURLOPT_UPLOAD_BUFFERSIZE, min(configuration.bufferSize, 2 << 20))
        // Below what servers keep an idle connection for (60 s and more), where libcurl's 118 s are above it.
        set(CURLOPT_MAXAGE_CONN, Int(configuration.maxIdleTime.components.seconds))
        // To libcurl zero would be its own 300 s.
        set(
            CURLOPT_CONNECTTIMEOUT_MS,
            max(1, Monotonic.milliseconds(from: 0, to: Monotonic.nanoseconds(configuration.connectTimeout)))
        )
        // libcurl may speak FTP and a dozen more.
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        unsafe loop.sharedOptions.apply(to: handle)
    }

    /// Prepares the handle for a transfer.
    func begin(_ transfer: Transfer) {
        self.transfer = transfer
        let request = transfer.request
        setURL(of: transfer)
        setMethod(request)
        unsafe ccurl_set_list(handle, CURLOPT_HTTPHEADER, headers.list(of: transfer))
        if decodes != request.decodes {
            decodes = request.decodes
            // libcurl undoes codings only if it was told to ask for them; the empty text is all it knows.
            if decodes {
                set(CURLOPT_ACCEPT_ENCODING, "")
            } else {
                unsafe ccurl_set_string(handle, CURLOPT_ACCEPT_ENCODING, nil)
            }
        }
        if isOnNewConnection != transfer.isOnNewConnection {
            isOnNewConnection = transfer.isOnNewConnection
            // Idle connections stay for others, and the new one for whoever comes next.
            set(CURLOPT_FRESH_CONNECT, isOnNewConnection ? 1 : 0)
        }
        // With HTTP/2 left possible where it cannot be, as without TLS, each waits for the answer of the one before.
        let version = loop.httpVersionOption(isTLS: request.isTLS)
        if version != self.version {
            self.version = version
            let isHTTP2 = version != Int(CURL_HTTP_VERSION_1_1)
            set(CURLOPT_HTTP_VERSION, version)
            if isHTTP2 != logs {
                logs = isHTTP2
                let context = unsafe Unmanaged.passUnretained(self).toOpaque()
                unsafe ccurl_set_debug_callback(handle, debugCallback)
                unsafe ccurl_set_pointer(handle, CURLOPT_DEBUGDATA, context)
                set(CURLOPT_VERBOSE, isHTTP2 ? 1 : 0)
            }
        }
        // It cannot be changed while a transfer is under way.
        var size =
            transfer.origin?.bodies.bufferSize(
                atMost: loop.configuration.bufferSize,
                beside: loop.running.items.count
            ) ?? BodySizes.small
        // Before it, libcurl leaves what it has of a head of HTTP/2 and does not fit where it is. It keeps no longer ones.
        if logs, Libcurl.number < 0x080100 { size = max(size, 131_072) }
        if size != bufferSize {
            bufferSize = size
            set(CURLOPT_BUFFERSIZE, size)
        }
        if isShared != transfer.isShared {
            isShared = transfer.isShared
            // 64 requests at once to a new origin open one connection, and not 64.
            set(CURLOPT_PIPEWAIT, isShared ? 1 : 0)
        }
        if transfer.mayBeAnsweredEarly { watch() }
        unsafe errorText[0] = 0
    }

    /// Prepares a new handle to read what a server answered while the request was sent, by any other handle.
    func begin(_ transfer: Transfer, from answer: SavedAnswer) {
        self.transfer = transfer
        savedAnswer = answer
        // The name is looked up nowhere, and no other connection has it.
        set(CURLOPT_URL, "http://saved/")
        set(CURLOPT_ABSTRACT_UNIX_SOCKET, answer.name)
        set(CURLOPT_PROXY, "")
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_CUSTOMREQUEST, transfer.request.method)
        if transfer.request.decodes { set(CURLOPT_ACCEPT_ENCODING, "") }
        // The connection has this answer and nothing else.
        set(CURLOPT_FRESH_CONNECT, 1)
        set(CURLOPT_FORBID_REUSE, 1)
        unsafe ccurl_set_close_socket_callback(handle, closeSavedSocketCallback)
    }

    /// Serves the saved answer on the connection that libcurl has made for it.
    func serveSaved() -> Bool { savedAnswer?.serve() ?? false }

    /// Makes libcurl give up what it keeps behind a pause of receiving, before the handle is taken from it.
    ///
    /// By itself 7.88 does not free that if other transfers use the connection.
    func discardPaused() {
        // Without a transfer the callback refuses what it is given.
        transfer = nil
        unsafe receiving.pointee.reception.room = 0
        _ = unsafe curl_easy_pause(handle, CURLPAUSE_CONT)
    }

    /// Has the connection closed with the transfer, unless others use it: its server is told in no other way that the
    /// stream is given up.
    func closeConnection() { set(CURLOPT_FORBID_REUSE, 1) }

    /// Lets go of the transfer; the handle can carry another.
    func end() {
        transfer = nil
        if isWatched, !mayUseProxy { set(CURLOPT_NOPROGRESS, 1) }
        isWatched = false
        stepsBeforeRequest = 0
        socket = -1
    }

    private var mayUseProxy: Bool { loop.configuration.proxy != .none }

    private func setURL(of transfer: Transfer) {
        let target = loop.requestTarget(of: transfer.request)
        // libcurl copies the texts before the closure ends.
        unsafe transfer.text.withUnsafeBufferPointer { text in
            let characters = unsafe UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)
            let end = transfer.request.headers.start
            let known = unsafe loop.knownURLs.url(UnsafeBufferPointer(rebasing: text[..<end]))
            // One that is none to libcurl is its affair: it ends the transfer for it.
            if known == nil { _ = unsafe ccurl_set_string(handle, CURLOPT_URL, characters) }
            if known !== url {
                let pointer = unsafe known.map { unsafe UnsafeMutableRawPointer($0.handle) }
                _ = unsafe ccurl_set_pointer(handle, CURLOPT_CURLU, pointer)
                url = known
            }
            guard target != nil || hasTarget else { return }
            let part = unsafe target.flatMap { unsafe characters?.advanced(by: $0) }
            _ = unsafe ccurl_set_string(handle, CURLOPT_REQUEST_TARGET, part)
        }
        hasTarget = target != nil
    }

    private func setMethod(_ request: EncodedRequest) {
        var customMethod: String?
        // Leaving HEAD behind must come first, for it sets the method to GET.
        set(CURLOPT_NOBODY, 0)
        switch request.body {
        case .none:
            set(CURLOPT_HTTPGET, 1)
            if request.method == "HEAD" {
                set(CURLOPT_NOBODY, 1)
            } else if request.method != "GET" {
                customMethod = request.method
            }
        case .bytes(let bytes) where bytes.count <= 65_536:
            // Copied, because libcurl then sends head and body in one piece.
            set(CURLOPT_POST, 1)
            unsafe ccurl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
            // libcurl copies the bytes before the closure ends.
            _ = unsafe bytes.withUnsafeBufferPointer { buffer in
                if let base = buffer.baseAddress, !bytes.isEmpty {
                    unsafe ccurl_set_string(
                        handle,
                        CURLOPT_COPYPOSTFIELDS,
                        UnsafeRawPointer(base).assumingMemoryBound(to: CChar.self)
                    )
                } else {
                    unsafe ccurl_set_string(handle, CURLOPT_COPYPOSTFIELDS, "")
                }
            }
            if request.method != "POST" { customMethod = request.method }
        case .bytes(let bytes):
            set(CURLOPT_UPLOAD, 1)
            unsafe ccurl_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(bytes.count))
            customMethod = request.method
        case .stream(_, let length):
            set(CURLOPT_UPLOAD, 1)
            unsafe ccurl_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(length ?? -1))
            customMethod = request.method
        }
        if let customMethod {
            set(CURLOPT_CUSTOMREQUEST, customMethod)
        } else if isCustom {
            unsafe ccurl_set_string(handle, CURLOPT_CUSTOMREQUEST, nil)
        }
        isCustom = customMethod != nil
    }

    private func set(_ option: CURLoption, _ value: Int) {
        unsafe ccurl_set_long(handle, option, value)
    }

    private func set(_ option: CURLoption, _ value: String) {
        unsafe ccurl_set_string(handle, option, value)
    }
}
