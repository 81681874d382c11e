import HTTPRecovery
import ServiceLifecycle

/// Says that the gateway is on its way out before it is: it goes on answering until those who send it requests have seen it.
///
/// It stands last in its group, and so is ended first.
struct ShutdownNotice: Service {
    let health: GatewayHealth
    let notice: Duration
    let time: TimeSource

    func run() async throws {
        try? await gracefulShutdown()
        health.drain()
        // Whoever is cancelled has no time for it.
        try? await time.sleep(for: notice)
    }
}
