import HTTPRecovery
import Logging
import ResourceGateway
import Synchronization
import Testing

@Suite struct JSONLogHandlerTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    @Test func aLineIsAnObjectWhateverItSays() throws {
        let lines = Lines()
        var logger = Logger(label: "test") { JSONLogHandler(label: $0, output: lines.add) }
        logger[metadataKey: "always"] = "here"
        logger.warning("say \"hi\"\n{", metadata: ["level": "mine", "list": ["a", ["b": "\u{1}"]], "n": "\(1)"])
        logger.debug("not at this level")
        let line = try #require(lines.all.first)
        #expect(lines.all.count == 1 && !line.contains("\n"))
        let json = try JSONValue(parsing: Array(line.utf8))
        #expect(json["level"] == "warning" && json["metadata.level"] == "mine" && json["label"] == "test")
        #expect(json["message"] == "say \"hi\"\n{" && json["always"] == "here" && json["n"] == "1")
        #expect(json["list"] == ["a", ["b": "\u{1}"]])
        #expect(json["time"]?.string?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    }
}
