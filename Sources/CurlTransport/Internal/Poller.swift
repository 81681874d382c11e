import CCurl
import Glibc

/// An epoll instance that applies what libcurl wants only before it sleeps.
///
/// libcurl takes a socket off at the end of each transfer and puts it back at the start of the next: two system calls a
/// request that cancel each other out. Here only the difference to what the kernel knows is applied, and idle sockets
/// stay registered.
///
/// It is confined to the loop's thread.
@safe
final class Poller {
    /// What a descriptor is to the loop.
    @safe
    struct Entry {
        /// The mask the kernel has; nil when it is not registered.
        var registered: UInt32?
        /// The mask libcurl wants; 0 when it wants none.
        var wanted: UInt32 = 0
        /// Without counting references, which costs more than all else here; the loop has its shards until it ends.
        var shard: Unmanaged<Shard>?
        /// Whether libcurl opened it through the hook.
        ///
        /// Then its closing is seen too, unless it is closed before it was connected: libcurl closes such a one without
        /// a word, after it has taken back what it wanted of it.
        var isHooked = false
        var isHTTP2 = false
        /// Whether a transfer on it has paused: nothing is wanted, but the connection is not idle.
        var isPaused = false
        /// Whether a transfer on it waits for the rest of its request's body alone: nothing but the server's end is to be heard.
        var awaitsEnd = false
        /// Whether a transfer has ended and left the connection open, since when nothing was wanted of it.
        var isIdle = false
        var isDirty = false
        /// Whether an idle connection was found dead and shut down.
        var isShutDown = false
    }

    static let inMask = EPOLLIN.rawValue
    static let outMask = EPOLLOUT.rawValue
    static let endMask = EPOLLRDHUP.rawValue

    /// Who has a socket of which nothing is wanted.
    enum Use {
        case nobody
        /// One that is paused, for what comes is left where it is.
        case paused
        /// One that has only to send, and waits for what.
        case sender
    }

    private let epoll: Int32
    let wakeup: Int32
    // No access to these overlaps another one, since each is over at once; that is not checked at run time.
    @safe @exclusivity(unchecked) private var entries: [Entry] = []
    @safe @exclusivity(unchecked) private var dirty: [Int32] = []
    private var events = unsafe [epoll_event](repeating: epoll_event(), count: 256)

    init?() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeup = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard epoll >= 0, wakeup >= 0 else {
            if epoll >= 0 { Glibc.close(epoll) }
            if wakeup >= 0 { Glibc.close(wakeup) }
            return nil
        }
        // Edge-triggered: each write is one event, and nobody has to read the counter.
        control(EPOLL_CTL_ADD, wakeup, Self.inMask | EPOLLET.rawValue)
    }

    func close() {
        Glibc.close(epoll)
        Glibc.close(wakeup)
        entries = []
    }

    // MARK: What libcurl says

    func opened(_ socket: Int32) {
        reserve(socket)
        entries[Int(socket)] = unsafe Entry(isHooked: true)
    }

    /// Whether libcurl has wanted nothing of the socket so far.
    func isNew(_ socket: Int32) -> Bool {
        unsafe Int(socket) < entries.count && entries[Int(socket)].shard == nil
    }

    /// Whether the kernel tells of nothing that comes on the socket.
    func isUnwatched(_ socket: Int32) -> Bool {
        Int(socket) < entries.count && entries[Int(socket)].registered.map { $0 & Self.inMask == 0 } ?? true
    }

    /// The shard that waits for something to come on the socket, if one does.
    func reader(of socket: Int32) -> Shard? {
        guard Int(socket) < entries.count, entries[Int(socket)].wanted & Self.inMask != 0 else { return nil }
        return unsafe entries[Int(socket)].shard?.takeUnretainedValue()
    }

    func closed(_ socket: Int32) {
        guard Int(socket) < entries.count else { return }
        // Closing takes it off the epoll set.
        entries[Int(socket)] = unsafe Entry(isDirty: entries[Int(socket)].isDirty)
    }

    func want(_ mask: UInt32, on socket: Int32, for shard: Shard) {
        reserve(socket)
        entries[Int(socket)].wanted = mask
        entries[Int(socket)].isPaused = false
        entries[Int(socket)].awaitsEnd = false
        entries[Int(socket)].isIdle = false
        unsafe entries[Int(socket)].shard = .passUnretained(shard)
        if entries[Int(socket)].isHooked {
            markDirty(socket)
        } else {
            apply(mask, to: socket)
        }
    }

    func remove(_ socket: Int32, isHTTP2: Bool, isPaused: Bool) {
        reserve(socket)
        // One that was never connected is closed without a word, now.
        if entries[Int(socket)].wanted == Self.outMask, !Self.isConnected(socket) {
            entries[Int(socket)].isHooked = false
        }
        entries[Int(socket)].wanted = 0
        entries[Int(socket)].isHTTP2 = isHTTP2
        entries[Int(socket)].isPaused = isPaused
        entries[Int(socket)].awaitsEnd = false
        if entries[Int(socket)].isHooked {
            markDirty(socket)
        } else {
            // A descriptor whose closing is not announced must go now: its number may be used again unseen.
            if entries[Int(socket)].registered != nil { control(EPOLL_CTL_DEL, socket, 0) }
            entries[Int(socket)] = unsafe Entry(isDirty: entries[Int(socket)].isDirty)
        }
    }

    /// Nothing but the server's end is to be heard on the socket, since the transfer on it has only to send, and waits for what.
    func awaitEnd(on socket: Int32) {
        guard Int(socket) < entries.count, entries[Int(socket)].isHooked, entries[Int(socket)].wanted == 0 else {
            return
        }
        entries[Int(socket)].awaitsEnd = true
        markDirty(socket)
    }

    /// A transfer has ended, and the connection stays.
    ///
    /// libcurl says nothing of it if nothing was wanted of the socket in the end: since the answer was there at once, or all
    /// that was left behind a pause.
    func stays(_ socket: Int32, isHTTP2: Bool) {
        guard Int(socket) < entries.count, entries[Int(socket)].isHooked, entries[Int(socket)].wanted == 0 else {
            return
        }
        entries[Int(socket)].isHTTP2 = isHTTP2
        entries[Int(socket)].isPaused = false
        entries[Int(socket)].awaitsEnd = false
        entries[Int(socket)].isIdle = true
        markDirty(socket)
        // Who waits for the connection gets it within this turn.
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        if !isHTTP2, unsafe poll(&descriptor, 1, 0) != 0 { idleEvent(socket) }
    }

    // MARK: The loop's side

    /// Brings the kernel up to date.
    func applyChanges() {
        for socket in dirty {
            let entry = entries[Int(socket)]
            entries[Int(socket)].isDirty = false
            guard entry.isHooked else { continue }
            if entry.wanted != 0 {
                if entry.registered != entry.wanted { apply(entry.wanted, to: socket) }
            } else if entry.isPaused {
                // Even without a mask the kernel would report a reset again and again.
                if entry.registered != nil { control(EPOLL_CTL_DEL, socket, 0) }
                entries[Int(socket)].registered = nil
            } else if entry.awaitsEnd {
                if entry.registered != Self.endMask { apply(Self.endMask, to: socket) }
            } else if entry.registered != Self.inMask, entry.registered != nil || entry.isIdle {
                apply(Self.inMask, to: socket)
            }
        }
        dirty.removeAll(keepingCapacity: true)
    }

    /// Waits and passes each event to `handle`.
    ///
    /// - Parameters:
    ///   - milliseconds: How long; negative is for ever.
    ///   - use: Who has a socket of which nothing is wanted. libcurl does not say if a transfer was paused before anything was
    ///     wanted of the socket for it, as its answer came at once.
    ///   - handle: Given what was waited for.
    func wait(
        milliseconds: Int32,
        use: (_ socket: Int32) -> Use,
        _ handle: (_ socket: Int32, _ events: UInt32, _ shard: Shard) -> Void
    ) {
        let count = unsafe events.withUnsafeMutableBufferPointer { buffer in
            unsafe epoll_wait(epoll, buffer.baseAddress, Int32(buffer.count), milliseconds)
        }
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            // The union's member in use is the one `control` has written.
            let socket = unsafe events[index].data.fd
            if socket == wakeup { continue }
            let mask = unsafe events[index].events
            guard Int(socket) < entries.count, entries[Int(socket)].registered != nil else { continue }
            if entries[Int(socket)].wanted == 0 {
                // What has changed in this turn is perhaps closed, and its number somebody else's: the next turn knows.
                if entries[Int(socket)].isPaused || entries[Int(socket)].isDirty { continue }
                switch use(socket) {
                case .nobody: idleEvent(socket)
                case .paused:
                    entries[Int(socket)].isPaused = true
                    markDirty(socket)
                case .sender: awaitEnd(on: socket)
                }
            } else if let shard = unsafe entries[Int(socket)].shard {
                handle(socket, mask, unsafe shard.takeUnretainedValue())
            }
        }
        if unsafe Int(count) == events.count, unsafe events.count < 4096 {
            unsafe events += [epoll_event](repeating: epoll_event(), count: events.count)
        }
    }

    /// An idle connection has something to say.
    ///
    /// On HTTP/1 that is an answer to no question (`408` before a close) or the close itself. libcurl would take it as
    /// the answer to the next request, so it is thrown away and the connection made unusable. HTTP/2 frames are left
    /// for libcurl, which reads them when it uses the connection again.
    private func idleEvent(_ socket: Int32) {
        if !entries[Int(socket)].isHTTP2, !entries[Int(socket)].isShutDown {
            var scratch = [UInt8](repeating: 0, count: 4096)
            for _ in 0..<16 {
                let count = unsafe scratch.withUnsafeMutableBytes { buffer in
                    unsafe recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                }
                if count <= 0 { break }
            }
            Glibc.shutdown(socket, Int32(SHUT_RDWR))
            entries[Int(socket)].isShutDown = true
        }
        control(EPOLL_CTL_DEL, socket, 0)
        entries[Int(socket)].registered = nil
        entries[Int(socket)].isIdle = false
    }

    /// Wakes the loop; from any thread.
    static func wake(_ descriptor: Int32) {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, 8)
    }

    /// Whether the other side will send nothing more, if all is as it says.
    static func hasEnded(_ socket: Int32) -> Bool {
        // Linux's POLLRDHUP, which the Glibc module leaves out.
        let end: Int16 = 0x2000
        var descriptor = pollfd(fd: socket, events: end, revents: 0)
        return unsafe poll(&descriptor, 1, 0) == 1 && descriptor.revents & (end | Int16(POLLHUP) | Int16(POLLERR)) != 0
    }

    private static func isConnected(_ socket: Int32) -> Bool {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // The storage is large enough for every family.
        return unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getpeername(socket, $0, &length) == 0
            }
        }
    }

    private func markDirty(_ socket: Int32) {
        if entries[Int(socket)].isDirty { return }
        entries[Int(socket)].isDirty = true
        dirty.append(socket)
    }

    private func reserve(_ socket: Int32) {
        while entries.count <= Int(socket) { entries.append(Entry()) }
    }

    private func apply(_ mask: UInt32, to socket: Int32) {
        let entry = entries[Int(socket)]
        // If the kernel does not know it any more, closing took it off the set. Its number is either what libcurl
        // wants something of by now, or perhaps somebody else's: that is forgotten, and touched no more.
        let isChanged = entry.registered != nil && control(EPOLL_CTL_MOD, socket, mask)
        let mayAdd = entry.registered == nil || entry.wanted != 0
        entries[Int(socket)].registered = isChanged || mayAdd && control(EPOLL_CTL_ADD, socket, mask) ? mask : nil
    }

    @discardableResult
    private func control(_ operation: Int32, _ socket: Int32, _ mask: UInt32) -> Bool {
        var event = unsafe epoll_event()
        unsafe event.events = mask
        unsafe event.data.fd = socket
        return unsafe epoll_ctl(epoll, operation, socket, &event) == 0
    }
}
