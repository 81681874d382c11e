import AuthRecovery
import HTTPRecovery

/// Tells a responder about the waits of its sign-in.
struct WaitNotices: Sendable {
    let responder: any ChallengeResponder

    init(_ responder: any ChallengeResponder) {
        self.responder = responder
    }

    var observe: @Sendable (RecoveryEvent) -> Void {
        { [responder] event in
            guard case .wait(let reason, let duration, let until) = event.kind else { return }
            // The engine does not wait for whoever shows the wait.
            Task { await responder.waiting(for: reason, duration: duration, until: until) }
        }
    }
}
