import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Synchronization
import Testing

// The types of the guides, word for word.

/// A conflict passes when the other writer is done.
struct ConflictRetry: RecoveryPolicy {
    func decide(_ situation: FailureContext) -> FailureContext.Decision {
        situation.outcome.kind == .conflict && situation.attempts < 3 ? .retry(after: .milliseconds(200)) : .pass
    }
}

/// An API that answers 400 with `{"error": "busy", "wait_ms": 1500}`.
struct ShopClassifier: OutcomeClassifier {
    func classify(_ exchange: Exchange) -> Outcome {
        var outcome = HTTPClassifier().classify(exchange)
        guard case .response(_, let body) = exchange.result, let json = try? JSONValue(parsing: body),
            let code = json["error"]?.string
        else { return outcome }
        outcome.code = code
        if code == "busy" {
            (outcome.kind, outcome.processed, outcome.remedies) = (.rateLimited, .no, [.wait])
            // All calls to the origin wait; by default those to the same endpoint do.
            outcome.scope = .origin
            outcome.retryAfter = json["wait_ms"]?.number.map { .saturating(seconds: $0.double / 1000) }
        }
        return outcome
    }
}

/// Nothing leaves while the operator says so.
struct Maintenance: Admission {
    let isOn: @Sendable () -> Bool

    func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
        isOn() ? .wait(.seconds(5), because: Outcome(.unavailable, processed: .no, remedies: [.wait])) : .go()
    }
}

/// Nothing is sent again on Fridays, and at most so many resends are under way.
final class CarefulResends: Admission {
    private let isFriday: @Sendable () -> Bool
    private let most: Int
    private let running = Mutex(0)

    init(atMost most: Int, isFriday: @escaping @Sendable () -> Bool) {
        (self.most, self.isFriday) = (most, isFriday)
    }

    func mayHold(_ cause: History.Cause, context: CallContext) -> Bool {
        if case .retry = cause { true } else { false }
    }

    func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
        if isFriday() { return .refuse(History.StopReason(rawValue: "friday")) }
        // While it waits for something else, it is none of those that are under way.
        guard attempt.isDue else { return .go() }
        let isFree = running.withLock { running in
            guard running < most else { return false }
            running += 1
            return true
        }
        if isFree { return .go(PlannedAttempt.Permit(true, kept: .whileDue)) }
        return .wait(.milliseconds(100), because: Outcome(.unavailable, processed: .no, remedies: [.wait]))
    }

    func conclude(
        _ attempt: PlannedAttempt,
        _ end: PlannedAttempt.End,
        permit: PlannedAttempt.Permit,
        context: CallContext
    ) -> Remainder? {
        running.withLock { $0 -= 1 }
        return nil
    }
}

/// Says which version of an API is meant.
struct APIVersion: ClientLayer {
    let version: String

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var request = request
        request.headerFields[HTTPField.Name("API-Version")!] = version
        return try await next(request, body: body, context: context)
    }
}

/// The guides: what they show does what they say.
@Suite struct GuidePages {
    @Test func aPolicyOfOnesOwn() async throws {
        let transport = ScriptedTransport([.status(409), .status(409), .status(200)])
        let clock = ManualClock()
        func make() -> RecoveringClient {
            let client = RecoveringClient(transport: transport) {
                Deadline(.seconds(30))
                Recovery {
                    ConflictRetry()
                    RateLimitBackoff()
                    TransientRetry()
                }
                AttemptTimeout(.seconds(10))
            }
            return client
        }
        #expect("\(make())".contains("Recovery"))
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
            Recovery { ConflictRetry() }
        }
        let response = try await clock.skippingWaits { try await client.send(Bench.get) }
        #expect(response.status == .ok && transport.received.count == 3)
    }

    /// The engine keeps its limits whatever a policy decides.
    @Test func aPolicyDoesNotSendAPostTwice() async throws {
        struct Always: RecoveryPolicy {
            func decide(_ situation: FailureContext) -> FailureContext.Decision { .retry(after: .zero) }
        }
        let transport = ScriptedTransport([.status(500), .status(200)])
        let client = RecoveringClient(transport: transport, runtime: .manual()) { Recovery { Always() } }
        let error = await #expect(throws: RecoveryError.self) { try await client.send(Bench.post) }
        #expect(error?.reason == .methodNotIdempotent && transport.received.count == 1)
    }

    @Test func aClassifierOfOnesOwn() async throws {
        let busy = #"{"error": "busy", "wait_ms": 1500}"#
        let transport = ScriptedTransport([.status(400, body: busy), .status(200)])
        let clock = ManualClock()
        var runtime = Runtime.manual(clock)
        runtime.classifier = ShopClassifier()
        let client = RecoveringClient(transport: transport, runtime: runtime)
        let response = try await clock.skippingWaits { try await client.send(Bench.post) }
        #expect(response.status == .ok)
        #expect(response.history.attempts.map(\.code) == ["busy", nil])
        #expect(clock.requestedDelays.contains { $0 >= .milliseconds(1500) })
    }

    @Test func anAdmissionOfOnesOwn() async throws {
        final class Settings: Sendable {
            let clock: ManualClock
            let time: TimeSource
            init() {
                clock = ManualClock()
                time = clock.timeSource()
            }
            var isInMaintenance: Bool { time.now.sinceStart < .seconds(7) }
        }
        let settings = Settings()
        let engine = Recovery(admissions: [Maintenance(isOn: { settings.isInMaintenance })])
        let transport = ScriptedTransport([.status(200)])
        let client = RecoveringClient(transport: transport, runtime: .manual(settings.clock)) { engine }
        let response = try await settings.clock.skippingWaits { try await client.send(Bench.get) }
        #expect(response.status == .ok && transport.received.count == 1)
        #expect(!settings.isInMaintenance)
    }

    @Test func anAdmissionWithReasonsOfItsOwn() async throws {
        let isFriday = Locked(true)
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(503), .status(503), .status(200)])
        let resends = CarefulResends(atMost: 1) { isFriday.withLock { $0 } }
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
            Recovery(admissions: [resends])
        }
        let error = await #expect(throws: RecoveryError.self) { try await client.send(Bench.get) }
        #expect(error?.reason.rawValue == "friday" && error?.kind == .unavailable)
        isFriday.withLock { $0 = false }
        #expect(try await clock.skippingWaits { try await client.send(Bench.get) }.status == .ok)
        #expect(transport.received.count == 3)
    }

    /// What the page says of the scope.
    @Test func aClassifierSaysWhomItHolds() async throws {
        let busy = #"{"error": "busy", "wait_ms": 30000}"#
        let transport = ScriptedTransport([.status(400, body: busy), .status(200), .status(200)])
        let clock = ManualClock()
        var runtime = Runtime.manual(clock)
        runtime.classifier = ShopClassifier()
        let client = RecoveringClient(transport: transport, runtime: runtime)
        let first = Task { try await client.send(HTTPRequest(url: "https://api.example.com/orders/1")) }
        await transport.waitForRequests(1)
        let second = Task { try await client.send(HTTPRequest(url: "https://api.example.com/orders/2")) }
        #expect(try await clock.skippingWaits { try await first.value }.status == .ok)
        #expect(try await clock.skippingWaits { try await second.value }.history.waited >= .seconds(29))
    }

    @Test func aLayerOfOnesOwn() async throws {
        let transport = ScriptedTransport([.status(503), .status(200)])
        let clock = ManualClock()
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
            APIVersion(version: "2")
            Recovery()
        }
        _ = try await clock.skippingWaits { try await client.send(Bench.get) }
        let versions = transport.received.map { $0.request.headerFields[HTTPField.Name("API-Version")!] }
        #expect(versions == ["2", "2"])
    }

    /// What `next` gives outside the engine and inside.
    @Test func whatNextGives() async throws {
        final class Seen: Sendable {
            let words = Locked<[String]>([])
        }
        struct Spy: ClientLayer {
            let name: String
            let seen: Seen
            func intercept(_ request: HTTPRequest, body: MessageBody?, context: CallContext, next: Next) async throws
                -> RecoveredResponse
            {
                do {
                    let response = try await next(request, body: body, context: context)
                    seen.words.withLock { $0.append("\(name) \(response.outcome.kind.rawValue)") }
                    return response
                } catch {
                    seen.words.withLock { $0.append("\(name) \(type(of: error))") }
                    throw error
                }
            }
        }
        let (seen, clock) = (Seen(), ManualClock())
        let lost = ScriptedTransport.Step.fail(.connectionLost, .unknown)
        let transport = ScriptedTransport([.status(503), lost, .status(404)])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
            Spy(name: "outside", seen: seen)
            Recovery()
            Spy(name: "inside", seen: seen)
        }
        await #expect(throws: RecoveryError.self) {
            try await clock.skippingWaits { try await client.send(Bench.get) }
        }
        let expected = [
            "inside unavailable", "inside TransportError", "inside not_found", "outside RecoveryError",
        ]
        #expect(seen.words.withLock { $0 } == expected)
    }

    private struct SignInNeeded: Error {
        let message: String
    }

    private actor Queue {
        private(set) var kept: [(HTTPRequest, Timestamp?)] = []
        func put(back request: HTTPRequest, until time: Timestamp?) throws { kept.append((request, time)) }
    }

    @Test func errorsAreActedOn() async throws {
        let (clock, queue, request) = (ManualClock(), Queue(), Bench.get)
        let transport = ScriptedTransport([.status(404), .status(429, ["retry-after": "9000"])])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock))
        client.runtime.events.observe { event in
            if case .wait(let reason, let duration, _) = event.kind { print("waits", duration, "because of", reason) }
        }
        func load() async throws -> [UInt8] {
            do {
                let response = try await client.send(request)
                return try await response.body.collect(upTo: 1 << 20)
            } catch let error as RecoveryError {
                switch error.kind {
                case .notFound: return []
                case .rateLimited, .quotaExhausted, .unavailable, .accountLocked:
                    // Worth trying again later; `retryAt` is a wall-clock time, for a queue or a person.
                    try await queue.put(back: request, until: error.retryAt)
                case .reauthenticationRequired, .stepUpRequired: throw SignInNeeded(message: error.userMessage)
                default: throw error
                }
                return []
            }
        }
        #expect(try await load() == [])
        #expect(await queue.kept.isEmpty)
        #expect(try await load() == [])
        #expect(await queue.kept.first?.1 != nil)
    }

    @Test func theFirstStep() async throws {
        let client = RecoveringClient(transport: ScriptedTransport([.status(200, body: "abc")]))
        func load(_ request: HTTPRequest) async throws -> [UInt8] {
            let response = try await client.send(request)
            return try await response.body.collect(upTo: 1 << 20)
        }
        #expect(try await load(Bench.get) == Array("abc".utf8))
    }

    private struct OldClient {
        let transport: ScriptedTransport

        func get(_ url: String) async throws -> (status: Int, body: [UInt8], retryAfter: Int?) {
            let answer = try await transport.send(HTTPRequest(url: url), body: nil, options: AttemptOptions())
            return (answer.head.status.code, try await answer.body.collect(upTo: 1 << 20), nil)
        }
    }

    private struct GaveUp: Error {}

    private struct Refused: Error {
        let status: Int
    }

    /// The client does what the loop did, without its waits.
    @Test func aLoopIsReplaced() async throws {
        let answers: [ScriptedTransport.Step] = [
            .status(200, body: "3 EUR"), .status(404), .status(403), .status(429, ["retry-after": "7"]), .status(502),
            .status(200, body: "4 EUR"),
        ]
        do {
            let http = OldClient(transport: ScriptedTransport(answers))
            func price(of item: String) async throws -> [UInt8]? {
                for attempt in 1...5 {
                    let answer = try await http.get("https://shop.example.com/prices/\(item)")
                    switch answer.status {
                    case 200: return answer.body
                    case 404: return nil
                    case 429, 500...599: try await Task.sleep(for: .seconds(answer.retryAfter ?? attempt))
                    default: throw Refused(status: answer.status)
                    }
                }
                throw GaveUp()
            }
            #expect(try await price(of: "tea") == Array("3 EUR".utf8))
            #expect(try await price(of: "tee") == nil)
            await #expect(throws: Refused.self) { try await price(of: "gold") }
        }
        let (clock, transport) = (ManualClock(), ScriptedTransport(answers))
        func makeClient(_ transport: any HTTPTransport, runtime: Runtime = Runtime()) -> RecoveringClient {
            RecoveringClient(transport: transport, runtime: runtime) {
                Deadline(.seconds(60))
                Recovery(maxAttempts: 5) {
                    RateLimitBackoff()
                    TransientRetry(backoff: .linear(base: .seconds(1)))
                }
                AttemptTimeout(.seconds(10))
            }
        }
        let client = makeClient(transport, runtime: .manual(clock))
        func price(of item: String) async throws -> [UInt8]? {
            do {
                let request = try HTTPRequest(url: "https://shop.example.com/prices/\(item)")
                return try await client.send(request).body.collect(upTo: 1 << 20)
            } catch let error as RecoveryError where error.kind == .notFound {
                return nil
            }
        }
        #expect(try await price(of: "tea") == Array("3 EUR".utf8))
        #expect(try await price(of: "tee") == nil)
        let error = await #expect(throws: RecoveryError.self) { try await price(of: "gold") }
        #expect(error?.outcome.status == 403)
        let last = try await clock.skippingWaits { try await price(of: "tea") }
        #expect(last == Array("4 EUR".utf8) && transport.received.count == 6)
    }

    private static func text(of page: String) throws -> String {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { directory, _ in directory.deletingLastPathComponent() }
        let path = root.appending(path: "Sources/HTTPRecovery/HTTPRecovery.docc/Guides/\(page).md")
        return try String(contentsOf: path, encoding: .utf8)
    }

    /// Each reason that there is has its line, and no other has one.
    @Test func everyReasonIsExplained() throws {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { directory, _ in directory.deletingLastPathComponent() }
        let file = root.appending(path: "Sources/HTTPRecovery/Outcomes/History+StopReason.swift")
        let words = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "StopReason(rawValue: \"")
            .dropFirst().compactMap { $0.components(separatedBy: "\"").first }
        let rows = try Self.text(of: "WhyNotRetried").split(separator: "\n").filter { $0.hasPrefix("| `") }
            .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
        #expect(words.count > 20 && Set(rows) == Set(words) && rows.count == words.count)
    }
}
