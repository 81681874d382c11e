#if AsyncHTTPClient
import AsyncHTTPClient
import Dispatch
import HTTPRecovery
import NIOCore
import NIOHTTPCompression
import NIOSSL

/// The client of one event loop, and the transfers that are under way on it.
///
/// The client gets a single loop for its group. So all that it does to a transfer, and all calls of the transfer's
/// delegate, happen on that loop one after the other, and no fact is late: if the client says that a request's time ran
/// out, whatever was written of it was noted before.
///
/// `@unchecked` because the section "the loop's own" is touched on the loop alone; all else is immutable or locked.
final class LoopPool: @unchecked Sendable {
    let loop: any EventLoop
    let configuration: AsyncHTTPClientTransport.Configuration

    // MARK: The loop's own

    /// The transfers that have not ended, by their number.
    private var transfers: [UInt64: Transfer] = [:]
    private var lastNumber: UInt64 = 0
    /// Made with the first request.
    private var client: HTTPClient?
    private var isShutDown = false
    /// Clients of single requests that have not shut down yet.
    private var freshClients = 0
    /// Who waits for the end of everything.
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(loop: any EventLoop, configuration: AsyncHTTPClientTransport.Configuration) {
        self.loop = loop
        self.configuration = configuration
    }

    /// The transfer of a number, if it has not ended.
    func transfer(_ number: UInt64) -> Transfer? { transfers[number] }

    /// Takes a transfer in, and gives it its number; nil when the pool is shut down.
    func enter(_ transfer: Transfer) -> UInt64? {
        guard !isShutDown else { return nil }
        lastNumber += 1
        transfers[lastNumber] = transfer
        return lastNumber
    }

    func leave(_ number: UInt64) {
        transfers[number] = nil
    }

    /// The client that all requests share.
    func sharedClient() throws(TransportError) -> HTTPClient {
        if let client { return client }
        let client = HTTPClient(eventLoopGroupProvider: .shared(loop), configuration: try settings())
        self.client = client
        return client
    }

    /// A client without connections, for one request; to be handed back with ``end(_:)``.
    func freshClient() throws(TransportError) -> HTTPClient {
        var settings = try settings()
        // Nothing comes after the request; and the client stays in memory until this is over, whenever it was shut down.
        settings.connectionPool.idleTimeout = .milliseconds(1)
        let client = HTTPClient(eventLoopGroupProvider: .shared(loop), configuration: settings)
        freshClients += 1
        return client
    }

    /// Shuts a client of one request down.
    func end(_ client: HTTPClient) {
        client.shutdown { _ in
            self.loop.execute {
                self.freshClients -= 1
                self.endIfEmpty()
            }
        }
    }

    /// How long a shutdown waits for the client, which does not give up a connection that it is making.
    private static let patience = TimeAmount.seconds(1)

    /// Ends all transfers; returns when the connections are closed, but for one that is being made.
    func shutDown() async {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                waiting.append(continuation)
                begin()
                loop.scheduleTask(in: Self.patience) { self.resumeWaiting() }
            }
        }
    }

    /// The same, when nobody is left who could wait for it.
    func abandon() {
        loop.execute { [self] in begin() }
    }

    private func begin() {
        if !isShutDown {
            isShutDown = true
            for transfer in transfers.values { transfer.fail(TransportError.shutDown) }
            if let client {
                // A client must not go without having been shut down; its connections are gone when it calls back.
                client.shutdown { _ in
                    self.loop.execute {
                        self.client = nil
                        self.endIfEmpty()
                    }
                }
            }
        }
        endIfEmpty()
    }

    private func endIfEmpty() {
        guard isShutDown, client == nil, freshClients == 0 else { return }
        resumeWaiting()
    }

    private func resumeWaiting() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    private func settings() throws(TransportError) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let file = configuration.caFile { tls.trustRoots = .file(file) }
        if configuration.isCertificateVerificationDisabled { tls.certificateVerification = .none }
        var settings = HTTPClient.Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow,
            timeout: .init(connect: .nanoseconds(Int64(clamping: Monotonic.nanoseconds(configuration.connectTimeout)))),
            proxy: try configuration.proxy.settings(),
            // What a single reading of the socket may expand to is bounded by ``BodyGuard``.
            decompression: configuration.decompresses ? .enabled(limit: .none) : .disabled
        )
        settings.connectionPool.idleTimeout = .nanoseconds(
            Int64(clamping: Monotonic.nanoseconds(configuration.maxIdleTime))
        )
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = configuration.maxConnectionsPerOrigin
        // Whoever is above decides whether and when it is tried again.
        settings.connectionPool.retryConnectionEstablishment = false
        settings.networkFrameworkWaitForConnectivity = false
        settings.httpVersion = configuration.httpVersion.mayUseHTTP2 ? .automatic : .http1Only
        // The layers above have a span of each attempt.
        settings.tracing.tracer = nil
        settings.http1_1ConnectionDebugInitializer = { [weak self] channel in
            self?.watchConnection(channel) ?? channel.eventLoop.makeFailedFuture(TransportError.shutDown)
        }
        settings.http2ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture { try RefusalWatch.add(to: channel) }
        }
        settings.http2StreamChannelDebugInitializer = { [weak self] channel in
            self?.watchStream(channel) ?? channel.eventLoop.makeFailedFuture(TransportError.shutDown)
        }
        return settings
    }
}

extension TransportError {
    static let shutDown = TransportError(.shutDown, .neverSent, message: "the transport has been shut down")
    static let tooLate = TransportError(
        .sendLimitPassed,
        .neverSent,
        message: "it was too late to send the request"
    )
}
#endif
