/// All that one breaker knows; a value without clock or lock.
///
/// Times are those since any moment that is always the same. What comes of a call that began before the last change of
/// state counts for nothing.
struct BreakerState: Sendable {
    typealias Configuration = Recovery.CircuitBreaker.Configuration

    /// What an attempt is told.
    enum Answer: Equatable {
        case go
        /// It goes out as a probe, which has to be reported on.
        case probe(Int)
        /// It does not; the time is how long, as far as is known.
        case refuse(Duration?)
    }

    /// What an attempt says about the server.
    struct Result {
        var isFailure: Bool
        /// How long it took.
        var elapsed: Duration
        /// How long the server wants to be left alone.
        var retryAfter: Duration?
    }

    /// Where it stands, for those who watch.
    struct News: Equatable {
        var state: Recovery.CircuitBreaker.State
        /// Until when it is open by what was seen.
        var end: Duration?
    }

    private enum Phase {
        case closed
        case open(until: Duration)
        case halfOpen
    }

    /// The probes of a half-open breaker.
    private struct Probes {
        /// Those under way, and until when each is waited for.
        var leases: [Int: Duration] = [:]
        var passed = 0
        var failed = 0
        var slow = 0
        var reported: Int { passed + failed }
    }

    var configuration: Configuration {
        didSet { window.change(to: configuration) }
    }
    var override: Recovery.CircuitBreaker.Override?
    private var phase = Phase.closed
    /// By which a closed breaker judges, and a half-open one; they begin anew with the state.
    private var window: BreakerWindow
    private var probes = Probes()
    /// When the present state began.
    private var since: Duration
    /// Where it stood when that was told last.
    private var told = News(state: .closed)
    /// Whether it is counted among those of which attempts have to ask.
    var isCounted = false
    /// How many breaks there were in a row.
    private var breaks = 0
    private var lastProbe = 0

    init(_ configuration: Configuration, override: Recovery.CircuitBreaker.Override? = nil, at now: Duration) {
        self.configuration = configuration
        self.override = override
        window = BreakerWindow(configuration)
        since = now
    }

    /// The state, as it was left by the last call.
    var state: Recovery.CircuitBreaker.State {
        switch (override, phase) {
        case (.open, _): .forcedOpen
        case (.closed, _): .forcedClosed
        case (.metricsOnly, _): .metricsOnly
        case (nil, .closed): .closed
        case (nil, .open): .open
        case (nil, .halfOpen): .halfOpen
        }
    }

    private var present: News {
        News(state: state, end: override == nil ? opensUntil : nil)
    }

    /// Whether attempts have to ask: not while it is closed, and that was told.
    var hasToBeAsked: Bool { !isClosed || state != told.state }

    /// Where it stands, if that has not been told yet.
    mutating func news() -> News? {
        guard present != told else { return nil }
        told = present
        return told
    }

    /// Whether it is closed, whatever somebody's word is.
    var isClosed: Bool {
        if case .closed = phase { true } else { false }
    }

    /// The share of failures and the number of results by which it judges; none while it is not closed.
    var rate: (failures: Double, calls: Int) {
        window.rate
    }

    /// Until when it is open; nil if it is not.
    var opensUntil: Duration? {
        if case .open(let end) = phase { end } else { nil }
    }

    /// Tells whether an attempt could go out that is due after a delay; nothing changes.
    func plan(at now: Duration, after delay: Duration) -> Answer {
        switch (override, phase) {
        case (.open, _): .refuse(nil)
        case (nil, .open(let end)) where end > now.saturatingAdding(delay): .refuse(end - now)
        default: .go
        }
    }

    /// Tells whether an attempt may go out now.
    mutating func admit(at now: Duration) -> Answer {
        if override == .open { return .refuse(nil) }
        if override != nil { return .go }
        if case .open(let end) = phase {
            guard end <= now else { return .refuse(end - now) }
            change(to: .halfOpen, at: now)
        }
        guard case .halfOpen = phase else { return .go }
        probes.leases = probes.leases.filter { $0.value > now }
        guard probes.leases.count + probes.reported < configuration.probes else {
            return .refuse(probes.leases.values.min().map { $0 - now })
        }
        lastProbe += 1
        probes.leases[lastProbe] = now.saturatingAdding(configuration.breakDuration)
        return .probe(lastProbe)
    }

    /// Takes note of how an attempt has ended.
    ///
    /// - Parameters:
    ///   - result: What it says about the server; nil for nothing.
    ///   - probe: Its number, if it was one.
    ///   - now: When it ended.
    mutating func end(_ result: Result?, probe: Int? = nil, at now: Duration) {
        if override == .metricsOnly, let result {
            guard now - result.elapsed >= since else { return }
            _ = window.add(isFailure: result.isFailure, isSlow: isSlow(result), at: now)
            return
        }
        switch phase {
        case .halfOpen:
            guard let probe, probes.leases.removeValue(forKey: probe) != nil else { return }
            if let result { judge(result, at: now) }
        case .closed:
            guard probe == nil, let result, override != .closed, now - result.elapsed >= since else { return }
            if window.add(isFailure: result.isFailure, isSlow: isSlow(result), at: now) { open(after: result, at: now) }
        case .open: break
        }
    }

    /// Opens it for a time, as another process has.
    mutating func open(until end: Duration, at now: Duration) {
        if case .open(let own) = phase, own >= end { return }
        change(to: .open(until: end), at: now)
    }

    /// Forgets what was seen.
    mutating func reset(at now: Duration) {
        breaks = 0
        change(to: .closed, at: now)
    }

    /// Where it stands, with times from now; nil if it has seen nothing.
    func knowledge(at now: Duration) -> JSONValue? {
        var members: [JSONValue.Member] = []
        switch phase {
        case .closed:
            guard let results = window.knowledge(at: now) else { return nil }
            members.append(.init("results", results))
        case .open(let end): members.append(.init("left_s", .wait(end - now)))
        case .halfOpen: members.append(.init("left_s", 0))
        }
        return .object(members + [.init("breaks", .number(JSONValue.Number(breaks)))])
    }

    /// Takes over where another stood; false if not all of it can be read.
    mutating func learn(_ known: JSONValue, from moment: Duration) -> Bool {
        guard let breaks = known["breaks"]?.count else { return false }
        if let left = known["left_s"] {
            guard let left = left.span else { return false }
            change(to: .open(until: moment.saturatingAdding(min(left, configuration.longestBreak))), at: moment)
        } else {
            var read = window
            guard read.learn(known["results"] ?? .null, from: moment) else { return false }
            change(to: .closed, at: moment)
            window = read
        }
        self.breaks = breaks
        return true
    }

    private mutating func judge(_ result: Result, at now: Duration) {
        if result.isFailure { probes.failed += 1 } else { probes.passed += 1 }
        if isSlow(result) { probes.slow += 1 }
        if configuration.window == .consecutive {
            if result.isFailure { return open(after: result, at: now) }
            if probes.passed >= configuration.successThreshold ?? configuration.probes { reset(at: now) }
            return
        }
        if let threshold = configuration.successThreshold, probes.passed >= threshold { return reset(at: now) }
        guard probes.reported >= configuration.probes else { return }
        let hasFailed = configuration.isTripped(calls: probes.reported, failures: probes.failed, slow: probes.slow)
        // If nothing but a number of failures opens it, any probe that fails does.
        let isCounted = configuration.failureRatio == nil && probes.failed > 0
        if hasFailed || isCounted { open(after: result, at: now) } else { reset(at: now) }
    }

    private mutating func open(after result: Result, at now: Duration) {
        let own = configuration.breakDuration.scaled(by: growth)
        let stated = result.retryAfter.flatMap { $0 > .zero ? $0 : nil }
        breaks += 1
        let length = min(stated ?? own, max(configuration.longestBreak, .milliseconds(1)))
        change(to: .open(until: now.saturatingAdding(length)), at: now)
    }

    /// What the next break is multiplied by.
    private var growth: Double {
        (0..<min(breaks, 1024)).reduce(1) { growth, _ in min(growth * max(configuration.breakGrowth, 1), 1e12) }
    }

    private mutating func change(to phase: Phase, at now: Duration) {
        self.phase = phase
        since = now
        window = BreakerWindow(configuration)
        probes = Probes()
    }

    private func isSlow(_ result: Result) -> Bool {
        configuration.slowThreshold.map { result.elapsed >= $0 } ?? false
    }
}
