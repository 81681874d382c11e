import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Every order of what a server, a person and the caller may do, up to a depth; one more with a `FUZZ_FACTOR`.
@Suite struct SignInFlowExplorationTests {
    private static let isThorough = ByteMutator.rounds(1) > 1

    @Test(.timeLimit(.minutes(30)))
    func inEveryOrderOfEventsTheFlowKeepsItsWord() async throws {
        let oracle = Oracle(depth: Self.isThorough ? 6 : 5)
        let client = Bench().client
        var paths = 0
        var ends: [String: Int] = [:]
        repeat {
            let end = try await follow(oracle, client)
            ends[end, default: 0] += 1
            paths += 1
        } while oracle.advance()
        #expect(paths > 10_000)
        #expect(Set(ends.keys) == ["finished", "refused", "no answer", "cancelled"])
    }

    /// Each path leads through the same calls, questions and notices, whether a responder answers within one run, or the
    /// flow is stepped, or it is written down and taken up again between all its steps.
    @Test(.timeLimit(.minutes(30)))
    func aFlowThatIsWrittenDownBetweenItsStepsIsTheSame() async throws {
        let oracle = Oracle(depth: Self.isThorough ? 5 : 4)
        let client = Bench().client
        repeat {
            var ways: [[String]] = []
            for way in [Way.run, .stepped, .writtenDown] {
                let end = words(of: await walk(oracle, client, way))
                ways.append(oracle.log + [end])
            }
            #expect(ways[1] == ways[2], "written down")
            // A step tells at its end what a responder is told at once, and not in place of the error that ends it.
            let isNotice = { (word: String) in word.hasPrefix("notice") }
            #expect(ways[0].filter { !isNotice($0) } == ways[1].filter { !isNotice($0) }, "stepped")
            let (told, later) = (ways[0].filter(isNotice), ways[1].filter(isNotice))
            #expect(ways[0].last == "session" ? told == later : told.starts(with: later))
        } while oracle.advance()
    }

    private enum Way {
        case run, stepped, writtenDown
    }

    private let options = SignInOptions(maxRounds: 2, maxRestarts: 1)

    private func words(of result: Result<String, any Error>) -> String {
        switch result {
        case .success(let session): session
        case .failure(let error as RecoveryError): "\(error.kind.rawValue) \(error.reason.rawValue)"
        case .failure(let error): "\(type(of: error))"
        }
    }

    private func walk(_ oracle: Oracle, _ client: RecoveringClient, _ way: Way) async -> Result<String, any Error> {
        oracle.rewind()
        return await Task {
            let person = ExploringPerson(oracle: oracle)
            var flow = SignInFlow(ExploringMachine(oracle: oracle), client: client, options: options)
            return await Result<String, any Error> {
                if way == .run { return try await flow.run(answering: person) }
                do {
                    return try await step(&flow, person, oracle, client, isWrittenDown: way == .writtenDown)
                } catch {
                    try Task.checkCancellation()
                    throw error
                }
            }
        }.value
    }

    private func step(
        _ flow: inout SignInFlow<String>,
        _ person: ExploringPerson,
        _ oracle: Oracle,
        _ client: RecoveringClient,
        isWrittenDown: Bool
    ) async throws -> String {
        var input = SignInInput.begin
        while true {
            let turn: SignInTurn<String>
            do {
                turn = try await flow.step(input)
            } catch {
                if !Task.isCancelled {
                    await #expect(throws: RecoveryError.self, "it is over") { try await flow.step(.begin) }
                }
                throw error
            }
            for notice in turn.notices { await person.notice(notice) }
            if isWrittenDown {
                let memory = try #require(try? JSONValue(parsing: flow.memory.description))
                flow = try #require(
                    SignInFlow(memory: memory, client: client, options: options) { memory in
                        var machine = ExploringMachine(oracle: oracle)
                        if memory.bool == false { machine.openingFactor = nil }
                        return machine
                    }
                )
            }
            switch turn.step {
            case .finished(let session): return session
            case .ask(let question):
                do {
                    input = .answer(try await person.answer(question))
                } catch let error as Challenge.NoAnswer {
                    // As a responder's silence is told.
                    throw question.unanswered.map { RecoveryError(outcome: $0, reason: .notRecoverable) } ?? error
                }
            case .choose: input = .choose(nil)
            case .pending: input = .poll
            @unknown default: Issue.record("an unknown step")
            }
        }
    }

    /// Runs one path and checks it.
    private func follow(_ oracle: Oracle, _ client: RecoveringClient) async throws -> String {
        let result = await walk(oracle, client, .run)
        let path = oracle.log
        let trace = path.joined(separator: ", ")
        let submitted = path.filter { $0.hasPrefix("submit") }
        #expect(Set(submitted).count == submitted.count, "an answer is submitted once: \(trace)")
        // A refusal by a server that does not know the flow costs a restart, a lost answer a reading.
        let (begun, read) = (path.count { $0 == "begin" }, path.count { $0 == "resync" })
        #expect(begun <= 1 + options.maxRestarts, "restarts are bounded: \(trace)")
        let (lost, accepted) = (path.count { $0 == "lost" }, path.count { $0.hasPrefix("submit") })
        #expect(begun + read <= 1 + options.maxRestarts + lost, "only lost answers are read for nothing: \(trace)")
        #expect(read <= options.maxRestarts + options.maxRounds * (1 + accepted), "readings are bounded: \(trace)")
        #expect(path.filter { $0.hasPrefix("round 3") }.isEmpty, "rounds are bounded: \(trace)")
        let isCancelled = path.contains("cancel")
        switch result {
        case .success:
            #expect(!isCancelled || path.last == "cancel", "\(trace)")
            return "finished"
        case .failure(is CancellationError):
            #expect(isCancelled, "\(trace)")
            #expect(path.last == "cancel", "nothing happens after a cancellation: \(trace)")
            return "cancelled"
        case .failure(let error as RecoveryError):
            #expect(!isCancelled, "cancellation is thrown as such: \(trace)")
            #expect(error.kind != .stateConflict || error.reason != .attemptsExhausted, "no circles: \(trace)")
            return "refused"
        case .failure(is Challenge.NoAnswer):
            #expect(!isCancelled, "cancellation is thrown as such: \(trace)")
            return "no answer"
        case .failure(let error):
            Issue.record("unexpected \(error): \(trace)")
            return "unexpected"
        }
    }
}

/// Chooses at every fork, so that all paths are taken one after the other; beyond the depth it takes the first way.
private final class Oracle: Sendable {
    private struct State {
        var choices: [Int] = []
        var arities: [Int] = []
        var position = 0
        var log: [String] = []
        var answers = 0
    }

    private let depth: Int
    private let state = Locked(State())

    init(depth: Int) {
        self.depth = depth
    }

    var log: [String] { state.withLock { $0.log } }

    func note(_ word: String) {
        state.withLock { $0.log.append(word) }
    }

    /// An answer that no other is equal to.
    func uniqueAnswer() -> Secret {
        state.withLock { state in
            state.answers += 1
            return Secret("\(state.answers)")
        }
    }

    func choose(of count: Int) -> Int {
        state.withLock { state in
            defer { state.position += 1 }
            if state.position < state.choices.count { return state.choices[state.position] }
            guard state.choices.count < depth else { return 0 }
            state.choices.append(0)
            state.arities.append(count)
            return 0
        }
    }

    func rewind() {
        state.withLock { state in
            state.position = 0
            state.log = []
            state.answers = 0
        }
    }

    /// Goes to the next path; false after the last.
    func advance() -> Bool {
        state.withLock { state in
            while let last = state.choices.popLast() {
                let arity = state.arities.removeLast()
                if last + 1 < arity {
                    state.choices.append(last + 1)
                    state.arities.append(arity)
                    return true
                }
            }
            return false
        }
    }

    func cancel() {
        note("cancel")
        unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
    }
}

/// A server that does anything.
private struct ExploringMachine: SignInMachine {
    let oracle: Oracle
    var openingFactor: Factor? = .password

    var memory: JSONValue { .bool(openingFactor != nil) }

    mutating func enter(_ context: SignInContext) {}

    mutating func poll(unlessBoundBy bound: RecoveryError?) throws -> SignInStep<String> { try answer("poll") }

    private mutating func answer(_ call: String) throws -> SignInStep<String> {
        oracle.note(call)
        switch oracle.choose(of: 13) {
        case 12:
            return .pending(Challenge(factor: Factor(key: .push, providerName: "push")), SignInContext.Pause(.zero))
        case 0: return .finished("session")
        case 1: return .ask(Challenge(factor: .email))
        case 2: return .choose([.password, .totp, .email])
        case 3: throw RecoveryError.refused(.invalidCredentials)
        case 4: throw RecoveryError.refused(.challengeExpired, .newChallenge)
        case 5: throw RecoveryError.refused(.passwordCompromised, .switchFactor)
        case 6: throw RecoveryError.refused(.factorUnavailable, .switchFactor)
        case 7: throw RecoveryError.refused(.flowExpired, .restartFlow)
        case 8: throw RecoveryError.refused(.stateConflict, .resync)
        case 9:
            oracle.note("lost")
            throw RecoveryError.refused(.transport, .resync)
        case 10:
            oracle.cancel()
            throw RecoveryError.refused(.transport)
        default:
            oracle.cancel()
            throw CancellationError()
        }
    }

    mutating func begin() throws -> SignInStep<String> {
        defer { openingFactor = nil }
        return try answer("begin")
    }

    mutating func resync() throws -> SignInStep<String> { try answer("resync") }
    mutating func choose(_ factor: Factor) throws -> SignInStep<String> { try answer("choose") }
    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) throws -> SignInStep<String> {
        try answer("resend")
    }

    mutating func submit(_ secret: Secret, to challenge: Challenge) throws -> SignInStep<String> {
        try answer("submit \(secret.reveal())")
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) throws -> SignInStep<String> {
        try answer("replace")
    }
}

/// A person who does anything.
private struct ExploringPerson: ChallengeResponder {
    let oracle: Oracle

    func notice(_ outcome: Outcome) async { oracle.note("notice \(outcome.kind.rawValue)") }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        oracle.note("round \(challenge.round)")
        switch oracle.choose(of: 5) {
        case 0: throw Challenge.NoAnswer(challenge.key)
        case 1: return .text(oracle.uniqueAnswer())
        case 2: return .resend
        case 3: return .useAnotherFactor
        default:
            oracle.cancel()
            throw Challenge.NoAnswer(challenge.key)
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
