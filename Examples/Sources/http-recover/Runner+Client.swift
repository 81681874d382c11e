import AuthRecovery
import CommandLineSupport
import FacebookAuth
import HTTPRecovery
import Locking

// What the calls are made with.
extension Runner {
    /// The client of the calls.
    func makeClient(
        _ transport: any HTTPTransport,
        _ runtime: Runtime,
        _ tokens: TokenManager?
    ) -> RecoveringClient {
        let middlewares = middlewares(tokens)
        return RecoveringClient(transport: transport, runtime: runtime) { middlewares }
    }

    /// The client of the renewals, which renews nothing by itself; its calls are none of those that are counted.
    func renewalClient(_ transport: any HTTPTransport, _ runtime: Runtime) -> RecoveringClient {
        var runtime = runtime
        runtime.events = RecoveryEvent.Hub()
        runtime.events.observe { [terminal] event in
            guard case .wait(_, let duration, _) = event.kind, terminal.tellsProgress else { return }
            terminal.tell("renewing the token: waiting \(HumanTime.text(duration))")
        }
        let recovery = plan.recovery.noRecovery ? [] : [engine(nil) as any ClientLayer]
        let timeout = plan.settings.timeout
        return RecoveringClient(transport: transport, runtime: runtime) {
            recovery
            timeout
        }
    }

    /// The layers around the transport, the outermost first.
    private func middlewares(_ tokens: TokenManager?) -> [any ClientLayer] {
        var layers: [any ClientLayer] = []
        if let deadline = plan.settings.deadline { layers.append(Deadline(deadline)) }
        if let redirects = plan.redirects { layers.append(redirects) }
        // Of attempts that run beside each other only the one that counts may write.
        if plan.settings.hedging != nil { layers += deliveries.layers }
        if !plan.recovery.noRecovery {
            let pacing = plan.recovery.provider.pacing
            layers.append(engine(tokens, pacing: pacing))
            if let pacing { layers.append(pacing.learning) }
        }
        if let tokens, let audience = plan.tokens?.audience { layers.append(Authorization(tokens, audience: audience)) }
        layers.append(plan.settings.timeout)
        if let form = plan.settings.attemptNumber {
            layers.append(RecoveringClient.AttemptNumber(form, maxAttempts: plan.settings.maxAttempts))
        }
        if plan.settings.hedging == nil { layers += deliveries.layers }
        return layers
    }

    private func engine(_ tokens: TokenManager?, pacing: FacebookPacing? = nil) -> Recovery {
        let settings = plan.settings
        let policies = plan.policies.policies(tokens)
        return Recovery(
            maxAttempts: settings.maxAttempts,
            maxWait: settings.maxWait,
            budget: settings.budget,
            hedging: settings.hedging,
            resendsTransparently: settings.resendsTransparently,
            admissions: settings.admissions() + (pacing.map { [$0] } ?? [])
        ) { policies }
    }
}
