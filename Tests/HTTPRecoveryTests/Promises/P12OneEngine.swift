import Testing

/// P12: nothing waits, sends again or holds back beside the engine.
///
/// What the sources say is what is checked: a file that
/// sleeps, waits or sends in a loop stands in a list here, with its reason, or fails the test.
@Suite struct P12OneEngine {
    /// The files in which a text stands, but for those that may have it.
    private func files(with texts: String..., except allowed: [String: String]) throws -> [String] {
        var found: Set<String> = []
        for (path, code) in try LibrarySources.all() where texts.contains(where: { code.contains($0) }) {
            found.insert(path)
        }
        for (path, reason) in allowed {
            #expect(found.contains(path), "\(path) needs no exception any more (\(reason))")
        }
        return found.subtracting(allowed.keys).sorted()
    }

    @Test func nobodyElseSleeps() throws {
        let strangers = try files(
            with: "time.sleep(",
            "Task.sleep",
            ".sleep(until:",
            ".sleep(for:",
            except: [
                "HTTPRecovery/Pipeline/CallContext+Wait.swift": "the one wait, which the driver and operations call",
                "HTTPRecovery/Engine/CallDriver+Race.swift": "until the driver sends a hedge",
                "HTTPRecovery/Client/Layers/ChaosTransport.swift": "latency that is injected on purpose",
                "HTTPRecovery/Time/TimeSource.swift": "the clock itself",
                "AuthRecovery/Renewal/Renewal.swift": "a store that is busy: no requests",
                "AuthRecovery/Tokens/Credentials+Lease.swift": "a lease's heartbeat: no requests",
                "AuthRecovery/Tokens/FileTokenStore.swift": "a file that another process has locked",
                "AuthRecovery/Tokens/FileLease.swift": "a file that another process has locked",
                "RedisRecoveryStore/Routing/Router.swift": "a cluster that moves keys: no requests",
                "RecoveryService/Lifecycle/DrainingService.swift": "how long a service may take to end: no requests",
                "RecoveryService/Lifecycle/RenewalService.swift": "until a token is to be renewed, in no call",
                "AuthRecovery/Tokens/TokenStore.swift": "looks at a store for changes, without a request",
            ]
        )
        #expect(strangers == [])
    }

    @Test func onlyTheEngineAndOperationsWait() throws {
        let strangers = try files(
            with: "context.wait(",
            except: [
                "HTTPRecovery/Engine/CallDriver.swift": "the driver",
                "HTTPRecovery/Operations/RecoveryOperation.swift": "between the calls of an operation",
                "AuthRecovery/SignIn/SignInFlow+Responder.swift": "a pause of the sign-in's operation",
                "AuthRecovery/Renewal/TokenManager.swift": "for a renewal that failed a moment ago, within the repair",
            ]
        )
        #expect(strangers == [])
    }

    @Test func waitsAreToldInOnePlace() throws {
        let strangers = try files(
            with: "emit(.wait(",
            "kind: .wait(",
            "Kind.wait(",
            except: ["HTTPRecovery/Pipeline/CallContext+Wait.swift": "the one wait"]
        )
        #expect(strangers == [])
    }

    @Test func noBoundTravelsUnseen() throws {
        #expect(try files(with: "@TaskLocal", "TaskLocal<", except: [:]) == [])
    }

    /// What is done for nobody's call would be seen under no number, and keep to nobody's bounds.
    @Test func noCallIsMadeUp() throws {
        let strangers = try files(
            with: "CallContext.Record()",
            "call: 0",
            except: [
                "HTTPRecovery/Pipeline/Runtime.swift": "the health of the shared store, which belongs to no call",
                "HTTPRecovery/Resilience/CircuitBreaker/CircuitBreaker.swift": "what other settings change, likewise",
                "RecoveryService/Lifecycle/RenewalService.swift": "the health of the store of credentials, likewise",
            ]
        )
        #expect(strangers == [])
    }

    /// A loop with a request in it is a plan of an operation, or says here why it repeats nothing.
    @Test func nobodyElseSendsInALoop() throws {
        let allowed = [
            "HTTPRecovery/Engine/CallDriver.swift": "the driver",
            "HTTPRecovery/Operations/RecoveryOperation.swift": "carries out plans",
            "HTTPRecovery/Layers/Redirects.swift": "each hop is another request, charged and recovered by the engine",
            "FacebookAuth/Batch/Facebook+Batch.swift": "each part of a batch is sent once",
            "ForgeRockAuth/SignIn/ForgeRockSignInMachine+Steps.swift": "each step of a journey is another question",
            "AuthRecovery/SignIn/SignInFlow+Responder.swift": "each answer of a person is another step",
            "AuthRecovery/SignIn/SignInFlow+Moves.swift": "each move of a sign-in is another step",
            "ClerkAuth/Sessions/PendingSignOuts.swift": "each session is ended once",
            "ClerkAuth/Tasks/ClerkTaskMachine.swift": "each list of organizations is read once",
            "AuthRecovery/OAuth/Server/OAuthServer+Discovery.swift": "each address is asked once",
            "AuthRecovery/Tokens/FileTokenStore.swift": "work on a file, no request",
        ]
        var found: Set<String> = []
        for (path, code) in try LibrarySources.all() where Self.sendsInALoop(code) { found.insert(path) }
        #expect(found.subtracting(allowed.keys).sorted() == [])
        for (path, reason) in allowed {
            #expect(found.contains(path), "\(path) needs no exception any more (\(reason))")
        }
    }

    /// Whether a loop's body, by its braces, awaits something that sends.
    private static func sendsInALoop(_ code: String) -> Bool {
        let senders = [
            ".send(", "next(request", "next(hop", "perform(", ".poll(", "attempt(", "api.end(", "run(in:",
            "await send()", "await end(", ".send {", ".sendAgain {",
        ]
        var depths: [Int] = []
        var depth = 0
        for line in code.split(separator: "\n") {
            let words = line.drop { $0 == " " }
            let isFor = words.hasPrefix("for ") && words.contains(" in ")
            if isFor || words.hasPrefix("while ") || words.hasPrefix("repeat {") { depths.append(depth) }
            if !depths.isEmpty, line.contains("await"), senders.contains(where: { line.contains($0) }) { return true }
            for byte in line.utf8 {
                if byte == UInt8(ascii: "{") { depth += 1 }
                if byte == UInt8(ascii: "}") { depth -= 1 }
            }
            while let last = depths.last, depth <= last, line.contains("}") { depths.removeLast() }
        }
        return false
    }

    @Test func theDriverIsShort() throws {
        let driver = try #require(try LibrarySources.all().first { $0.path == "HTTPRecovery/Engine/CallDriver.swift" })
        #expect(driver.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 100)
    }
}
