package import AuthRecovery
import HTTPRecovery
package import HTTPRecoveryTesting

/// Walks through a sign-in as browsers and a web backend do: each step in a request of its own, at one of two instances,
/// with nothing kept between them but what the store and the ticket hold.
///
/// Every ticket is presented a second time, which has to lead to the same and to send nothing.
package struct SuspendedWalk<Provider: SignInProvider> {
    /// What went otherwise than it should.
    package struct Surprise: Error, CustomStringConvertible {
        package var description: String
    }

    private let provider: Provider
    private let clock: ManualClock
    private let transport: ScriptedTransport
    private let instances: [SuspendedSignIns]

    package init(_ provider: Provider, _ clock: ManualClock, _ transport: ScriptedTransport) {
        self.provider = provider
        self.clock = clock
        self.transport = transport
        let lifetime = Duration.seconds(1_000_000)
        instances = (0..<2).map { _ in
            SuspendedSignIns(provider.client, sealing: MarkingSealing(), lifetime: lifetime)
                .held(by: "the browser", hasOwnTokens: true)
        }
    }

    /// Signs in.
    package func signIn(
        _ flow: SignInFlow<Provider.Session>,
        answering person: any ChallengeResponder
    ) async throws -> Provider.Session {
        var turn = try await clock.skippingWaits { try await instances[0].begin(flow) }
        var count = 0
        while true {
            for notice in turn.notices { await person.notice(notice) }
            let input: SignInInput
            switch turn.step {
            case .finished(let session): return session
            case .ask(let question): input = .answer(try await answer(question, person))
            case .choose(let factors): input = .choose(try await person.choose(among: factors))
            case .pending(let challenge, let pause):
                await person.show(challenge)
                try await early(turn)
                clock.advance(by: pause.duration)
                input = .poll
            @unknown default: throw Surprise(description: "an unknown step")
            }
            guard let ticket = turn.ticket else { throw Surprise(description: "a step without a ticket") }
            count += 1
            let instance = instances[count % 2]
            turn = try await clock.skippingWaits { try await instance.step(ticket, input, at: provider) }
            try await repeated(ticket, input, turn, instance)
        }
    }

    private func answer(_ question: Challenge, _ person: any ChallengeResponder) async throws -> Challenge.Answer {
        do {
            return try await person.answer(question)
        } catch let error as Challenge.NoAnswer {
            throw question.unanswered.map { RecoveryError(outcome: $0, reason: .notRecoverable) } ?? error
        }
    }

    /// Who asks too early is told to wait, and nothing is sent.
    private func early(_ turn: SignInTurn<Provider.Session>) async throws {
        guard case .pending(_, let pause) = turn.step, pause.duration > .zero, let ticket = turn.ticket else { return }
        let sent = transport.received.count
        let again = try await instances[1].step(ticket, .poll, at: provider)
        guard case .pending = again.step, transport.received.count == sent else {
            throw Surprise(description: "asked too early")
        }
    }

    /// The same step once more, as by a second click.
    private func repeated(
        _ ticket: Secret,
        _ input: SignInInput,
        _ turn: SignInTurn<Provider.Session>,
        _ instance: SuspendedSignIns
    ) async throws {
        let sent = transport.received.count
        do {
            let again = try await instance.step(ticket, input, at: provider)
            guard again.ticket == turn.ticket, again.notices == turn.notices else {
                throw Surprise(description: "the second click leads elsewhere")
            }
        } catch let error as RecoveryError {
            guard case .finished = turn.step, error.kind == .alreadySignedIn else {
                throw Surprise(description: "the second click is refused: \(error)")
            }
        }
        guard transport.received.count == sent else { throw Surprise(description: "sent twice") }
    }
}

/// What a sign-in came to, in a word.
package func outcome<Session>(of signIn: () async throws -> Session) async -> String {
    do {
        _ = try await signIn()
        return "signed in"
    } catch let error as RecoveryError {
        return "\(error.kind.rawValue) \(error.reason.rawValue)"
    } catch {
        return "\(error)"
    }
}
