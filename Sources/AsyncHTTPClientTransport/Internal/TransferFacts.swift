#if AsyncHTTPClient
/// What is known about a transfer when it has ended; the verdict hangs on these.
struct TransferFacts: Sendable, Hashable {
    /// How often the head of the request was let through to a connection.
    var wireAttempts = 0
    /// Whether the client wanted to send the request a second time and was stopped.
    var isVetoed = false
    /// Whether the status line of a final (not 1xx) response has come.
    var sawStatus = false
    /// Whether the whole header section has come.
    var sawHead = false
    /// Whether the server has said that it did not process the HTTP/2 stream.
    var isRefused = false
    /// Whether the last part of the response has come.
    var sawEnd = false
}
#endif
