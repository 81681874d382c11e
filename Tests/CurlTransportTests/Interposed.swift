import CCurl
import Glibc
import HTTPRecovery

/// What loops ask of libcurl and of the system, seen on the way.
///
/// In the tests' program these functions stand in front of the libraries' own. What libcurl asks of the system goes past
/// them.
enum Interposed {
    struct State {
        /// The transfers of each multi handle, by its address, and the most that one has had.
        var transfers: [UInt: Int] = [:]
        var mostTransfers = 0
        /// How many sockets were opened, and how many while the signal of a broken pipe was ignored.
        var sockets = 0
        var socketsWithSignalIgnored = 0
    }

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

private let realAdd = unsafe Interposed.next("curl_multi_add_handle", as: Change.self)
private let realRemove = unsafe Interposed.next("curl_multi_remove_handle", as: Change.self)
private let realSocket = Interposed.next("socket", as: Open.self)

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
