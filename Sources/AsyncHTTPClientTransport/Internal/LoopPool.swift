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
    /// Whom the next request gets; made with the first.
    private var shared: PooledClient?
    /// Those of origins to which connections have not come about.
    private var own: [String: PooledClient] = [:]
    private var isShutDown = false
    /// The clients that have not shut down yet.
    private var openClients = 0
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

    /// A client for a request to an origin; to be handed back with ``giveBack(_:)``.
    ///
    /// - Parameter isAlone: Whether the request gets one without connections, that nobody else gets.
    func client(for origin: String, isAlone: Bool) throws(TransportError) -> PooledClient {
        if isAlone {
            // Nothing comes after the request; and the client stays in memory until this is over, whenever it was shut down.
            let client = try makeClient(idleTimeout: .milliseconds(1))
            client.uses = 1
            client.isRetired = true
            return client
        }
        if let client = own[origin] {
            client.uses += 1
            return client
        }
        if let shared, !shared.makeRoom(for: origin, idleTimeout: idleTimeout) {
            self.shared = nil
            retire(shared)
        }
        let client: PooledClient
        if let shared { client = shared } else { client = try makeClient(idleTimeout: idleTimeout) }
        shared = client
        client.origins[origin] = .now()
        client.uses += 1
        return client
    }

    private var idleTimeout: TimeAmount {
        .nanoseconds(Int64(clamping: Monotonic.nanoseconds(configuration.maxIdleTime)))
    }

    private func makeClient(idleTimeout: TimeAmount) throws(TransportError) -> PooledClient {
        var settings = try settings()
        settings.connectionPool.idleTimeout = idleTimeout
        openClients += 1
        return PooledClient(HTTPClient(eventLoopGroupProvider: .shared(loop), configuration: settings))
    }

    /// Takes a client back; one that is retired ends with the last request.
    func giveBack(_ client: PooledClient) {
        client.uses -= 1
        // Later, for the client may be in the middle of what has led here.
        if client.isRetired, client.uses == 0 { loop.execute { self.end(client) } }
    }

    /// A request has got no connection in time, and perhaps its client will never have one: a connection whose server says
    /// nothing behind TLS, where it is to begin HTTP/2, is never ready, and keeps the client from making others.
    ///
    /// From here on the origin has a client of its own, a new one after each such request.
    func noteNoConnection(_ client: PooledClient, to origin: String) {
        guard !isShutDown, configuration.httpVersion.mayUseHTTP2, origin.hasPrefix("https:"),
            client === own[origin] ?? shared
        else { return }
        if own.count >= Self.mostOwn { retireOwn() }
        let previous = own.removeValue(forKey: origin)
        own[origin] = try? makeClient(idleTimeout: idleTimeout)
        if let previous { retire(previous) }
    }

    /// More origins than these share a client again.
    private static let mostOwn = 32

    private func retireOwn() {
        let clients = own.values
        own = [:]
        for client in clients { retire(client) }
    }

    private func retire(_ client: PooledClient) {
        client.isRetired = true
        if client.uses == 0 { end(client) }
    }

    /// Shuts a client down, without which it must not go; its connections are gone when it calls back.
    private func end(_ client: PooledClient) {
        client.client.shutdown { _ in
            self.loop.execute {
                withExtendedLifetime(client) { self.openClients -= 1 }
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
            if let shared { retire(shared) }
            shared = nil
            retireOwn()
        }
        endIfEmpty()
    }

    private func endIfEmpty() {
        guard isShutDown, openClients == 0 else { return }
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
