import HTTPRecoveryTesting

/// Keeps the pages of other sites away from the control endpoints, and the sandbox's own page on this machine.
///
/// A browser says which site a request comes from (`Origin`, and `Sec-Fetch-Site` of the Fetch Metadata); a program says
/// nothing of the kind, and may do everything.
enum ControlGuard {
    /// Why a request is refused; nil if it is not.
    static func refusal(of request: SandboxRequest) -> String? {
        let isSafe = ["GET", "HEAD"].contains(request.method)
        if !isSafe, let site = request.header("sec-fetch-site"), !["same-origin", "none"].contains(site) {
            return "a page of another site may not ask for this"
        }
        // To read what is its own a page says no origin: only its name tells that it was led here, and those in DNS have
        // dots.
        if isLoopback(request.peer), !isAskedAsThisMachine(request), request.header("host")?.contains(".") == true {
            return "on this machine, ask for an IP address, for localhost, or for a name without a dot"
        }
        guard let origin = request.header("origin") else { return nil }
        guard let scheme = origin.firstRange(of: "://"), let host = request.header("host"),
            origin[scheme.upperBound...].lowercased() == host.lowercased()
        else { return "a page of another site may not ask for this" }
        // A name may have been made to lead here by whoever owns it; then its page seems to be the sandbox's own.
        return isOfThisMachine(host) ? nil : "a page has to ask for an IP address, or for localhost"
    }

    /// Whether the page may be shown: to somebody at this machine, who has not been led here by a name.
    static func mayShowPage(to request: SandboxRequest) -> Bool {
        isLoopback(request.peer) && isAskedAsThisMachine(request)
    }

    private static func isAskedAsThisMachine(_ request: SandboxRequest) -> Bool {
        request.header("host").map(isOfThisMachine) ?? true
    }

    /// Whether an address is one of the loopback interface's.
    static func isLoopback(_ address: String) -> Bool {
        address == "::1" || ["127.", "::ffff:127."].contains { address.hasPrefix($0) }
    }

    /// Whether a host, with a port or without one, is an IP address or the machine's own name.
    private static func isOfThisMachine(_ host: String) -> Bool {
        let host = host.lowercased()
        let name = host.prefix { $0 != ":" }
        if name == "localhost" || name.hasSuffix(".localhost") { return true }
        return SocketAddress(listening: host) != nil || SocketAddress(listening: host + ":80") != nil
    }
}
