/// What all calls of a client share, in one place for all of them.
final class Surroundings: Sendable {
    /// Clock, randomness, shared state, events and the classifier.
    let runtime: Runtime

    /// The layers that can tell whose credential a request is going to present, the outermost first.
    let presenters: [any ClientLayer]

    /// What is under way, which the end of the client waits for.
    let openCalls = InFlight()

    /// Lands when the client is shut down.
    let end = Flight<Void>()

    init(_ runtime: Runtime, presenters: [any ClientLayer] = []) {
        self.runtime = runtime
        self.presenters = presenters
    }
}
