import AuthSandbox
import GRDB

@testable import AuthRecovery
@testable import HTTPRecovery
@testable import HTTPRecoveryTesting
@testable import SQLiteRecoveryStore

/// What is kept, and may have been damaged or written by somebody else.
enum StoreTargets {
    /// What token stores write.
    static func readCredentials(_ bytes: [UInt8]) {
        do throws(Credentials.StoreError) {
            let credentials = try CredentialCoding.plain.decode(bytes)
            let written = try CredentialCoding.plain.encode(credentials)
            let read = try CredentialCoding.plain.decode(written)
            require(read.json == credentials.json, "credentials are read as they were written")
            require(read == credentials || hasTimes(credentials), "credentials are read as they were written")
            _ = credentials.idToken
        } catch {
            require(!"\(error)".contains(Planted.secret), "an error holds nothing of what was stored")
        }
        let sealed = CredentialCoding(sealing: Reversing(), identity: "fuzz")
        do throws(Credentials.StoreError) {
            let credentials = try sealed.decode(bytes)
            let written = try sealed.encode(credentials)
            require(try sealed.decode(written).json == credentials.json, "sealed credentials are opened as they were")
        } catch {
            require(!"\(error)".contains(Planted.secret), "an error holds nothing of what was stored")
        }
        guard let planted = Planted.body(bytes) else { return }
        if let credentials = try? CredentialCoding.plain.decode(planted) { Planted.checkHidden(in: credentials) }
        do { _ = try sealed.decode(planted + [UInt8(ascii: "x")]) } catch { Planted.checkHidden(in: error) }
    }

    /// Times are written to the millisecond.
    private static func hasTimes(_ credentials: Credentials) -> Bool {
        credentials.expiresAt != nil || credentials.renewalBeganAt != nil
    }

    private struct Reversing: CredentialSealing {
        func seal(_ plaintext: [UInt8], at place: String) -> [UInt8] { plaintext.reversed() }
        func open(_ sealed: [UInt8], at place: String) -> [UInt8] { sealed.reversed() }
    }

    static func readLease(_ bytes: [UInt8]) {
        guard let entry = LeaseEntry(String(decoding: bytes, as: UTF8.self)) else { return }
        _ = entry.isRunning(at: .system)
        let read = LeaseEntry(entry.text)
        require(read == entry, "a lease is read as it was written: \(entry.text)")
    }

    private static let database = try? DatabaseQueue()

    /// A row, a value a line, as anybody may have changed it; its last line is the payload of a gate.
    static func readRow(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).prefix(8).map { Array($0) }
        let values = lines.map { line -> DatabaseValue in
            let text = String(decoding: line, as: UTF8.self)
            if let number = Int64(text) { return number.databaseValue }
            if let number = Double(text) { return number.databaseValue }
            return text.databaseValue
        }
        if values.count >= 4 {
            let row = try? database?.read { db in
                try Row.fetchOne(db, sql: "SELECT ?, ?, ?, ?", arguments: StatementArguments(values.prefix(4)))
            }
            if let row, let span = StoredSpan(row, at: 0) { check(span) }
        }
        for number in values.compactMap({ Int64.fromDatabaseValue($0) }) {
            let entry = SharedState.BudgetEntry(
                key: "k",
                deposit: Int(number),
                withdrawal: 500,
                limit: Int(number),
                initial: 1000
            )
            let after = entry.applied(to: Int(number))
            require(after.balance >= 0, "no balance is below zero")
            require(SQLiteStore.number(after: number) > 0, "versions are above zero")
        }
        let key = SharedState.Gate.Key(
            scope: .account,
            origin: Origin(scheme: "https", authority: "a.example"),
            name: "n"
        )
        let payload = String(decoding: lines.last ?? [], as: UTF8.self)
        let gate = SharedState.Gate(key: key, payload: payload, opensAt: FuzzedAnswer.now)
        let read = SharedState.Gate(key: key, payload: gate.payload.description, opensAt: FuzzedAnswer.now)
        require(read.payload == gate.payload, "a gate is read as it was written")
    }

    private static func check(_ span: StoredSpan) {
        let readings: [Int64] = [0, 5_000_000, .max / 4]
        for reading in readings {
            for boot in [span.set.boot, "another", ""] {
                let clock = BootClock { BootClock.Value(boot: boot, microseconds: reading) }
                for now in [FuzzedAnswer.now, Timestamp(secondsSinceEpoch: 0)] {
                    let length = span.endsAt.saturatingSubtracting(span.setAt)
                    require(span.left(at: now, clock: clock) <= length, "no more is left than there was")
                    require(span.leftToHolder(at: now, clock: clock) <= length, "no more is left than there was")
                    if span.isAdrift(at: now, clock: clock) { _ = span.restarted(at: now, clock: clock) }
                }
            }
        }
    }

    /// A policy, which somebody has written; what is accepted, clients can work by.
    static func readPolicy(_ bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), let settings = try? RecoveringClient.Settings(json: json)
        else { return }
        require(settings.problem == nil, "an accepted policy has no problem")
        for backoff in [settings.backoff, settings.throttledBackoff].compactMap(\.self) {
            for retry in [1, 2, 50, Int.max] {
                for random in [0, 0.5, 1] { checkWait(backoff.delay(retry: retry, random: random), "a delay") }
            }
        }
        _ = settings.layers()
    }

    static func readScenario(_ bytes: [UInt8]) {
        _ = try? SandboxScenario(json: String(decoding: bytes, as: UTF8.self))
        guard let json = try? JSONValue(parsing: bytes) else { return }
        _ = try? Simulation(scenario: json)
    }

    /// A recorded call, and a line of recorded exchanges.
    static func readRecording(_ bytes: [UInt8]) {
        let answer = RecordedExchange.answer(to: bytes, by: HTTPClassifier(), systemTime: FuzzedAnswer.now)
        require(answer.members?.count == 17, "every line gets an answer")
        guard let json = try? JSONValue(parsing: bytes), let recording = CallRecording(json) else { return }
        let text = recording.json.description
        guard let read = (try? JSONValue(parsing: text)).flatMap({ CallRecording($0) }) else {
            fatalError("Not so: a recording can be read: \(text)")
        }
        // From then on: what JSON cannot say has become what it can.
        require(CallRecording(read.json)?.json == read.json, "a recording is read as it was written: \(text)")
        _ = Recovery.replay(recording, policies: [LockoutWait(), RateLimitBackoff(), TransientRetry()])
    }
}
