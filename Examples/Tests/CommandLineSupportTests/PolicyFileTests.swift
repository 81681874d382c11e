import HTTPRecovery
import HTTPRecoveryTesting
import Locking
import Testing

/// `http-recover --policy`: what stands in the file holds, and what stands beside it more.
@Suite("http-recover --policy", .timeLimit(.minutes(30)))
struct PolicyFileTests {
    /// Runs the program with a policy against a server that is out of service.
    private func run(
        _ policy: String,
        _ options: [String] = [],
        calls: Int = 1
    ) async throws -> (result: RunningProgram.Result, requests: Int) {
        let requests = Locked(0)
        let server = try FaultServer { _ in
            requests.withLock { $0 += 1 }
            return .answer(503)
        }
        var result: RunningProgram.Result?
        try await withTemporaryDirectory { directory in
            let file = directory + "/policy.json"
            try write(policy, to: file)
            let url = "http://\(server.authority)/items"
            let arguments = ["--policy", file, "--repeat", String(calls)] + options + [url]
            result = try await RunningProgram.httpRecover(arguments, in: directory).result()
        }
        return (try #require(result), requests.withLock { $0 })
    }

    @Test(arguments: [
        (#"{"max_attempts": 5, "backoff": {"kind": "constant", "base_s": "1ms"}}"#, [], 5),
        (#"{"max_attempts": 5, "backoff": {"kind": "constant", "base_s": "1ms"}}"#, ["--max-attempts", "2"], 2),
        (#"{"max_attempts": 5, "backoff": {"base_s": "10m"}, "max_wait_s": 3600}"#, ["--retry-delay", "0.001"], 5),
        (#"{"preset": "none"}"#, [], 1),
        (#"{"preset": "none"}"#, ["--retry", "1", "--backoff", "0.001,0.002"], 2),
        (#"{"max_attempts": 9, "budget": {"burst": 2, "ratio": 0}}"#, ["--backoff", "0.001,0.002"], 3),
        (
            #"{"max_attempts": 9, "budget": {"burst": 2, "ratio": 0}}"#,
            ["--backoff", "0.001,0.002", "--budget-burst", "5"], 6
        ),
        // A wait that the policy allows, and its deadline does not.
        (#"{"deadline_s": "100ms", "backoff": {"kind": "constant", "base_s": 5, "jitter": "none"}}"#, [], 1),
    ])
    func theFileHoldsAndWhatStandsBesideItMore(policy: String, options: [String], requests: Int) async throws {
        let (result, seen) = try await run(policy, options)
        #expect(seen == requests, "\(result.errors)")
        #expect(result.status == (policy.contains("deadline") ? 28 : 22), "\(result.errors)")
    }

    /// A breaker that is in the file alone keeps calls back.
    @Test func aBreakerOfTheFileOpens() async throws {
        let (result, seen) = try await run(#"{"max_attempts": 1, "breaker": {"failures": 2, "open_s": 60}}"#, calls: 5)
        #expect(seen == 2 && result.errors.contains("call 5: GET"), "\(result.errors)")
    }

    @Test func theDeadlineThatEndsACallIsThePolicys() async throws {
        let policy = #"{"deadline_s": "100ms", "backoff": {"kind": "constant", "base_s": 5}}"#
        let result = try await run(policy).result
        #expect(result.errors.contains("The policy's deadline_s sets how long a request may take"), "\(result.errors)")
    }

    @Test(arguments: [
        ("", "the file is no JSON: it is empty"), ("{]", "the file is no JSON: "), ("[]", "the policy is no object"),
        ("{\u{301}", "the file is no JSON"),
        (#"{"max_attemps": 3}"#, #"unknown key "max_attemps""#),
        (#"{"breaker": {"open_s": "soon"}}"#, #"breaker.open_s "soon" is no time"#),
        (#"{"max_attempts": 0}"#, "max_attempts is no whole number of at least 1"),
        (#"{"provider": "clerk"}"#, #"unknown key "provider""#),
        (#"{"budget": {"model": "x\u001b[31m"}}"#, "budget.model"),
        (#"{"max_attempts": 2, "max_attempts": 3}"#, #"the key "max_attempts" stands there twice"#),
        (#"{"backoff": {"base_s": 1, "base_s": 2}}"#, #"the key "base_s" stands there twice"#),
    ])
    func whatIsNoPolicyIsNamed(policy: String, words: String) async throws {
        let (result, seen) = try await run(policy)
        #expect(result.status == 65 && seen == 0)
        #expect(result.errors.contains(words) && result.errors.contains("policy.json"), "\(result.errors)")
        #expect(!result.errors.contains("\u{1b}"))
    }

    /// What is advised can be done.
    @Test(arguments: [("1e30", false), ("1000001", true), ("1000002", false)])
    func theBudgetThatIsAdvisedIsTaken(attempts: String, isAdvised: Bool) async throws {
        let result = try await run(#"{"max_attempts": \#(attempts)}"#, ["--backoff", "0.001,0.002"]).result
        #expect(result.status == 22 && result.errors.contains("it may end a call before"), "\(result.errors)")
        #expect(result.errors.contains("--budget-burst 1000000 allows") == isAdvised, "\(result.errors)")
        #expect(isAdvised || !result.errors.contains("allows them all"), "\(result.errors)")
    }

    @Test func wrongUsesAreRefused() async throws {
        #expect(try await run("{}", ["--no-recovery"]).result.status == 64)
        // The attempt's time is the policy's.
        #expect(try await run(#"{"attempt_timeout_s": 3}"#, ["--idle-timeout", "5"]).result.status == 64)
        #expect(try await run("{}", ["--policy", "/nowhere/policy.json"]).result.status == 65)
    }

    /// A recording is decided again by the policy that it was made with.
    @Test func aRecordingKeepsThePolicy() async throws {
        let server = try FaultServer { _ in .answer(503) }
        try await withTemporaryDirectory { directory in
            let (policy, file) = (directory + "/policy.json", directory + "/calls.jsonl")
            try write(
                #"{"max_attempts": 3, "backoff": {"kind": "custom", "delays_s": ["7ms", "3ms"], "jitter": "none"}}"#,
                to: policy
            )
            let arguments = ["--policy", policy, "--record", file, "http://\(server.authority)/items"]
            _ = try await RunningProgram.httpRecover(arguments, in: directory).result()
            let result = try await RunningProgram.replay([file], in: directory).result()
            #expect(result.status == 0, "\(result.output)")
            #expect(result.output.contains("wait 0.007") && result.output.contains("wait 0.003"), "\(result.output)")
        }
    }
}
