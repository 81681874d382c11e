/// What every `HTTPTransport` has to do, as a list of checks.
///
/// A check throws ``ConformanceFailure``, so it fits any test framework:
///
/// ```swift
/// static let mine = TransportUnderTest(name: "mine", addedFields: ["user-agent"]) { options in
///     MyTransport(connectTimeout: options.connectTimeout, certificates: options.caFile)
/// }
///
/// @Test(arguments: TransportConformance.checks(for: mine))
/// func conforms(_ check: TransportConformance.Check) async throws {
///     try await check(Self.mine)
/// }
/// ```
///
/// Each check makes its own server and its own transport and ends both; they may run at the same time. What a transport
/// cannot do is left out with a reason (``TransportUnderTest/exclusions``), and ``exclusions(of:)`` lists that.
///
/// How sure an error may be (`TransportError.certainty`) follows from what happened: it never claims more than the facts
/// allow, and where they prove that nothing was sent, or that nothing was processed, it says so.
public enum TransportConformance {
    /// One thing that a transport has to do.
    public struct Check: Sendable, CustomStringConvertible {
        /// A word for it that stays the same, such as `faults/reset-after-request/POST/reused`.
        public let id: String
        /// What the transport does, as a sentence.
        public let name: String
        /// What a transport must be able to do for the check to apply.
        public let abilities: Set<TransportUnderTest.Ability>

        /// Whether it is one of cancellations or shutdowns, repeated as often as ``TransportConformance/rounds`` says.
        public let isRepeated: Bool

        private let body: @Sendable (TransportBench) async throws -> Void

        init(
            _ id: String,
            _ name: String,
            needs abilities: Set<TransportUnderTest.Ability> = [.exchanges],
            isRepeated: Bool = false,
            _ body: @escaping @Sendable (TransportBench) async throws -> Void
        ) {
            self.id = id
            self.name = name
            self.abilities = abilities
            self.isRepeated = isRepeated
            self.body = body
        }

        /// The same over HTTP/2.
        var overHTTP2: Check {
            let abilities = abilities.subtracting([.exchanges, .sockets]).union([.http2])
            return Check("http2/\(id)", "over HTTP/2: \(name)", needs: abilities, isRepeated: isRepeated, body)
        }

        /// The check's id.
        public var description: String { id }

        /// Checks the transport.
        ///
        /// - Throws: ``ConformanceFailure`` when the transport does something else, when the check hangs, or when it does
        ///   not apply; what the system or the making of the transport throws.
        public func callAsFunction(_ subject: TransportUnderTest) async throws {
            guard abilities.isSubset(of: subject.abilities) else {
                throw ConformanceFailure("the check “\(id)” is for transports of which “\(abilities)” is true")
            }
            for _ in 0..<(isRepeated ? rounds : 1) { try await check(subject) }
        }

        /// One round, with a server and a transport of its own.
        private func check(_ subject: TransportUnderTest) async throws {
            let bench = TransportBench(subject, speaksHTTP2: abilities.contains(.http2))
            let result = await bench.result(of: "the check “\(id)”") { [body] in try await body(bench) }
            let end = await bench.result(of: "the shutdown after the check “\(id)”") { await bench.shutdown() }
            bench.stopServers()
            do {
                try result.get()
                try bench.settleLedger()
            } catch let failure as ConformanceFailure {
                throw ConformanceFailure("\(id): \(failure.description)")
            }
            try end.get()
        }
    }

    /// All checks.
    public static let checks: [Check] =
        headerChecks + requestChecks + bodyChecks + responseBodyChecks + streamingChecks + cancellationChecks
        + timeoutChecks + reuseChecks + onceChecks + shutdownChecks + tlsChecks + earlyAnswerChecks + faultChecks
        + http2Checks

    /// The checks that apply to a transport, without those that it excludes.
    public static func checks(for subject: TransportUnderTest) -> [Check] {
        applying(to: subject).filter { subject.reasonForExcluding($0.id) == nil }
    }

    /// What a transport leaves out of the checks that apply to it, as the rows of a table: the ids, how many checks
    /// that are, and the reason.
    public static func exclusions(of subject: TransportUnderTest) -> [String] {
        let checks = applying(to: subject)
        return subject.exclusions.sorted { $0.key < $1.key }
            .compactMap { pattern, reason in
                let count = checks.count { TransportUnderTest.matches(pattern, $0.id) }
                return count == 0 ? nil : "| `\(pattern)` | \(count) | \(reason) |"
            }
    }

    /// The exclusions of a transport that no check has the id of, or that exclude nothing: they should be removed.
    public static func needlessExclusions(of subject: TransportUnderTest) -> [String] {
        let checks = applying(to: subject)
        return subject.exclusions.keys
            .filter { pattern in !checks.contains { TransportUnderTest.matches(pattern, $0.id) } }
            .sorted()
    }

    /// The checks that a transport excludes and passes all the same: they should not be excluded.
    ///
    /// What hangs meets ``TransportUnderTest/patience``, and counts as failed.
    ///
    /// - Parameters:
    ///   - subject: The transport.
    ///   - tries: How often a check has to pass, for those that fail now and then; default: once. Values below 1 count as 1.
    /// - Returns: Their ids.
    public static func outgrownExclusions(of subject: TransportUnderTest, tries: Int = 1) async -> [String] {
        var outgrown: [String] = []
        for check in applying(to: subject) where subject.reasonForExcluding(check.id) != nil {
            var fails = false
            for _ in 0..<max(1, tries) where !fails {
                do { try await check(subject) } catch { fails = true }
            }
            if !fails { outgrown.append(check.id) }
        }
        return outgrown
    }

    private static func applying(to subject: TransportUnderTest) -> [Check] {
        checks.filter { $0.abilities.isSubset(of: subject.abilities) }
    }

    /// How often a check of cancellations or shutdowns repeats what it does: once, or as often as the environment's
    /// `CONFORMANCE_ROUNDS` says (1 to 1,000,000).
    public static let rounds: Int = roundsInEnvironment()
}
