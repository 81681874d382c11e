#if Redis
import Glibc
import HTTPRecovery

/// An address that a socket can be connected to.
struct Address: Sendable, Hashable {
    let family: Int32
    /// The bytes of a `sockaddr` of the family.
    let bytes: [UInt8]

    /// The socket at a path; nil if the path is too long.
    init?(path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let text = Array(path.utf8)
        let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
            // One byte is left for the end.
            guard text.count < target.count else { return false }
            unsafe target.copyBytes(from: text)
            return true
        }
        guard fits else { return nil }
        family = AF_UNIX
        bytes = unsafe withUnsafeBytes(of: &address) { unsafe Array($0) }
    }

    private init(family: Int32, bytes: [UInt8]) {
        self.family = family
        self.bytes = bytes
    }

    /// Whether a text is an address of IPv4 or IPv6, not a name.
    static func isNumeric(_ host: String) -> Bool {
        if case .success = lookUp(host, port: 1, numeric: true) { return true }
        return false
    }

    /// The addresses of a host, in the system's order.
    ///
    /// A name may take seconds to be looked up.
    static func lookUp(_ host: String, port: Int, numeric: Bool = false) -> Result<[Address], SharedState.StoreError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICSERV | (numeric ? AI_NUMERICHOST : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard result == 0 else {
            let reason = unsafe gai_strerror(result).map { unsafe String(cString: $0) } ?? "unknown"
            return .failure(
                SharedState.StoreError("the Redis server's host cannot be found (\(reason)); check its name")
            )
        }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [Address] = []
        var entry = unsafe list
        while let present = unsafe entry {
            if let address = unsafe present.pointee.ai_addr {
                let bytes = unsafe UnsafeRawBufferPointer(start: address, count: Int(present.pointee.ai_addrlen))
                addresses.append(unsafe Address(family: present.pointee.ai_family, bytes: Array(bytes)))
            }
            unsafe entry = present.pointee.ai_next
        }
        return .success(addresses)
    }

    /// Looks a name up on a thread of its own and hands the addresses over there; false if no thread can be had.
    static func lookUpAside(
        _ host: String,
        port: Int,
        _ body: @escaping @Sendable (Result<[Address], SharedState.StoreError>) -> Void
    ) -> Bool {
        SystemThread.run { body(lookUp(host, port: port)) }
    }
}
#endif
