import HTTPRecovery
import Testing

@Suite("http-recover simulate", .timeLimit(.minutes(10)), .bounded)
struct SimulateTests {
    private static let outage = #"""
        {"name": "outage", "options": {"max_attempts": 3, "backoff": {"base_s": 60}, "breaker": {"kind": "count", \#
        "window": 2, "ratio": 1}}, "calls": [{"answers": [{"status": 503}, {"status": 200}]}]}
        """#

    @Test func eachLineIsAnsweredWithALine() async throws {
        let input = [Self.outage, "no JSON", "", #"{"name": 7, "calls": 5}"#].joined(separator: "\n")
        let end = try await BuiltProgram.run("http-recover", ["simulate"], input: input)
        #expect(end.status == 0 && end.errors == "")
        let lines = try end.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(lines.count == 3)
        let call = try #require(lines.first?["calls"]?[0])
        #expect(call["outcome"]?.string == "ok" && call["ended_at_s"]?.number?.text == "60")
        #expect(call["attempts"]?[1]?["breaker"]?.string == "closed")
        #expect(lines.dropFirst().map { $0["invalid"]?.string } == ["the line is no JSON", "calls is no array"])
    }

    @Test func theCallsCanBeDrawn() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory + "/calls.svg"
            let end = try await BuiltProgram.run("http-recover", ["simulate", "--plot", file], input: Self.outage)
            #expect(end.status == 0 && contents(of: file).hasPrefix("<svg"))
            let nowhere = try await BuiltProgram.run(
                "http-recover",
                ["simulate", "--plot", directory + "/no/calls.svg"],
                input: Self.outage
            )
            #expect(nowhere.status == 65)
        }
    }

    @Test func itHelpsAndRefuses() async throws {
        let help = try await BuiltProgram.run("http-recover", ["simulate", "--help"])
        #expect(help.status == 0 && help.output.contains("hours take no longer than seconds"))
        // What it shows can be taken from the screen as it is.
        let shown = try #require(help.output.split(separator: "\n").first { $0.hasPrefix("  {") })
        let tried = try await BuiltProgram.run("http-recover", ["simulate"], input: "\(shown)\n")
        #expect(try JSONValue(parsing: tried.output)["calls"]?.array?.count == 1, "\(tried.output)")
        #expect(try await BuiltProgram.run("http-recover", ["simulate", "--bogus"]).status == 64)
        let idle = try await BuiltProgram.run("http-recover", ["--no-recovery", "--hedge", "1", "http://127.0.0.1:1/"])
        #expect(idle.status == 64)
        for breaker in ["", "0.5", "0.5,20", "2,20,10", "0.5,0,10", "0.5,20,0", "nan,1,1", "0.5,20,10,1"] {
            let end = try await BuiltProgram.run("http-recover", ["--breaker", breaker, "http://127.0.0.1:1/"])
            #expect(end.status == 64, "\(breaker)")
        }
    }
}
