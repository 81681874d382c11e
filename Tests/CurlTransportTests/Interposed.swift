import CCurl
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting

/// What loops ask of libcurl and of the system, and libcurl of the system, seen on the way.
///
/// In the tests' program these functions stand in front of the libraries' own; in front of those that libcurl calls only what
/// the program exports does (`Package.swift`).
enum Interposed {
    struct State {
        /// The transfers of each multi handle, by its address, and the most that one has had.
        var transfers: [UInt: Int] = [:]
        var mostTransfers = 0
        /// How many sockets were opened, and how many while the signal of a broken pipe was ignored.
        var sockets = 0
        var socketsWithSignalIgnored = 0
        /// How often each name was looked up, where it is one of `lookedUp`, by the kind of address: from version 8.20 on libcurl
        /// asks for each by itself.
        var lookups: [String: [CInt: Int]] = [:]
        /// The sizes of what was handed to the system in one piece, where that is large.
        var largePieces: Set<Int> = []
        /// Large pieces of these sizes that begin with an x are handed to the system when the gate is open, and hold their loop
        /// up until then.
        ///
        /// A newer libcurl puts the head of a request and the beginning of its body into one piece.
        var heldPieces: [Int: FaultServer.Gate] = [:]
        /// Who sends a request with ``immediate`` and one of these paths, for the first time, goes on when the gate is open: when
        /// the answer is there, so that libcurl finds it as soon as it looks.
        var answered: [String: FaultServer.Gate] = [:]
    }

    /// A method that only tests have.
    static let immediate = "IMMEDIATE"

    /// What is large: more than libcurl's own buffer for what is sent.
    static let largePiece = 65_536

    /// Names that only tests have: below this one the address is that of this machine.
    static let lookedUp = ".interposed.test"
    /// Below this one nobody answers before the gate is open.
    static let hanging = ".hanging.interposed.test"
    static let resolver = FaultServer.Gate()

    static let state = Locked(State())

    /// Whether the signal is ignored that a broken pipe sends.
    static var isBrokenPipeIgnored: Bool {
        var action = sigaction()
        guard unsafe sigaction(SIGPIPE, nil, &action) == 0 else { return false }
        // SIG_IGN is 1.
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// The next definition of a function, which is the library's.
    static func next<Function>(_ name: String, as type: Function.Type) -> Function {
        // RTLD_NEXT is a macro that the compiler does not import.
        let symbol = unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -1), name)
        return unsafe unsafeBitCast(symbol, to: type)
    }
}

private typealias Change = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CURLMcode
private typealias Open = @convention(c) (CInt, CInt, CInt) -> CInt
private typealias LookUp =
    @convention(c) (UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeRawPointer?, UnsafeMutableRawPointer?) -> CInt

private typealias Send = @convention(c) (CInt, UnsafeRawPointer?, Int, CInt) -> Int

private let realSend = unsafe Interposed.next("send", as: Send.self)
private let realAdd = unsafe Interposed.next("curl_multi_add_handle", as: Change.self)
private let realRemove = unsafe Interposed.next("curl_multi_remove_handle", as: Change.self)
private let realSocket = Interposed.next("socket", as: Open.self)
private let realLookup = unsafe Interposed.next("getaddrinfo", as: LookUp.self)

@_cdecl("curl_multi_add_handle")
func interposedAdd(_ multi: UnsafeMutableRawPointer?, _ easy: UnsafeMutableRawPointer?) -> CURLMcode {
    let code = unsafe realAdd(multi, easy)
    if let multi = unsafe multi, code == CURLM_OK {
        Interposed.state.withLock { state in
            let count = state.transfers[UInt(bitPattern: multi), default: 0] + 1
            state.transfers[UInt(bitPattern: multi)] = count
            state.mostTransfers = max(state.mostTransfers, count)
        }
    }
    return code
}

@_cdecl("curl_multi_remove_handle")
func interposedRemove(_ multi: UnsafeMutableRawPointer?, _ easy: UnsafeMutableRawPointer?) -> CURLMcode {
    let code = unsafe realRemove(multi, easy)
    if let multi = unsafe multi, code == CURLM_OK {
        Interposed.state.withLock { state in
            let count = state.transfers[UInt(bitPattern: multi), default: 0] - 1
            state.transfers[UInt(bitPattern: multi)] = count == 0 ? nil : count
        }
    }
    return code
}

/// The loop opens sockets in the midst of a transfer's work, as libcurl asks it to.
@_cdecl("socket")
func interposedSocket(_ domain: CInt, _ type: CInt, _ kind: CInt) -> CInt {
    let isIgnored = Interposed.isBrokenPipeIgnored
    Interposed.state.withLock { state in
        state.sockets += 1
        if isIgnored { state.socketsWithSignalIgnored += 1 }
    }
    return realSocket(domain, type, kind)
}

/// On a thread of libcurl's own.
@_cdecl("getaddrinfo")
func interposedLookUp(
    _ name: UnsafePointer<CChar>?,
    _ service: UnsafePointer<CChar>?,
    _ hints: UnsafeRawPointer?,
    _ result: UnsafeMutableRawPointer?
) -> CInt {
    guard let name = unsafe name, case let text = unsafe String(cString: name), text.hasSuffix(Interposed.lookedUp)
    else {
        return unsafe realLookup(name, service, hints, result)
    }
    let family = unsafe hints?.load(as: addrinfo.self).ai_family ?? AF_UNSPEC
    Interposed.state.withLock { $0.lookups[text, default: [:]][family, default: 0] += 1 }
    if text.hasSuffix(Interposed.hanging) {
        Interposed.resolver.wait()
        return EAI_AGAIN
    }
    return unsafe realLookup("127.0.0.1", service, hints, result)
}

@_cdecl("send")
func interposedSend(_ socket: CInt, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: CInt) -> Int {
    if count > Interposed.largePiece {
        let gate = Interposed.state.withLock { state in
            state.largePieces.insert(count)
            return state.heldPieces[count]
        }
        if let gate, unsafe bytes?.load(as: UInt8.self) == UInt8(ascii: "x") { gate.wait() }
    }
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
    guard unsafe piece.starts(with: Interposed.immediate.utf8) else {
        return unsafe realSend(socket, bytes, count, flags)
    }
    let path = unsafe String(decoding: piece, as: UTF8.self).split(separator: " ").dropFirst().first ?? ""
    let gate = Interposed.state.withLock { $0.answered.removeValue(forKey: String(path)) }
    let sent = unsafe realSend(socket, bytes, count, flags)
    gate?.wait()
    return sent
}
