extension RunningService {
    /// Starts a caller that sends the beginning of a request and nothing more; it ends when this service hangs up.
    ///
    /// - Parameter beginning: What it sends, line ends included.
    public func slowCaller(sending beginning: String) async throws -> RunningService {
        let address = url.replacing("http://", with: "").split(separator: ":").map(String.init)
        let script = #"exec 3<>"/dev/tcp/$0/$1" && printf %s "$2" >&3 && echo sent && cat <&3 >/dev/null"#
        let caller = try await RunningService("/bin/bash", ["-c", script] + address + [beginning], announces: false)
        while !caller.lines.contains("sent") {
            guard caller.residentBytes != nil else {
                throw NotStarted(description: caller.lines.joined(separator: "\n"))
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        return caller
    }

    /// The beginnings of requests that a server may wait for the rest of: half a head, and half a body.
    public static let halfRequests = [
        "GET /health/live HTTP/1.1\r\nHost: a",
        "POST /sign-in HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"id",
    ]
}
