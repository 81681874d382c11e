#if Redis
import Testing

@testable import RedisRecoveryStore

/// Where a server says that a command belongs.
@Suite struct RedirectionTests {
    private static let there = RedisStore.Endpoint.tcp(host: "asked.example", port: 7)

    @Test(arguments: [
        ("MOVED 3999 127.0.0.1:6381", "127.0.0.1", 6381), ("MOVED 0 node.example.com:1", "node.example.com", 1),
        ("MOVED 1 ::1:6379", "::1", 6379), ("MOVED 1 :6379", "asked.example", 6379),
        ("MOVED 1 ?:6379", "asked.example", 6379), ("MOVED  1   h:65535", "h", 65_535),
        ("MOVED 1 h:6379 hostname=other", "h", 6379),
    ])
    func aPlaceIsRead(_ line: String, _ host: String, _ port: Int) {
        guard case .moved(let place)? = ServerError(Array(line.utf8)).redirection else {
            Issue.record("\(line) is not read")
            return
        }
        #expect(place.endpoint(seenFrom: Self.there) == .tcp(host: host, port: port))
    }

    @Test(arguments: [
        "MOVED", "MOVED 1", "MOVED 1 h", "MOVED 1 h:", "MOVED 1 h:0", "MOVED 1 h:65536", "MOVED 1 h:-1", "MOVED 1 h:1x",
        "MOVED 1 h:100000", "MOVED 1 \(String(repeating: "h", count: 300)):1", "MOVED\r1 h:1", "moved 1 h:1",
        "ERR MOVED 1 h:1",
        "ASKING 1 h:1", "", " ", "OK",
    ])
    func whatNamesNoPlaceIsAnError(_ line: String) {
        #expect(ServerError(Array(line.utf8)).redirection == nil)
    }

    @Test func bytesThatAreNoTextAreNoPlace() {
        #expect(ServerError(Array("MOVED 1 ".utf8) + [0xFF, 0xFE] + Array(":1".utf8)).redirection == nil)
    }

    @Test func whatIsAskedForThisTimeAndWhatIsSplit() {
        let place = Redirection.Place(host: "h", port: 1)
        #expect(ServerError(Array("ASK 1 h:1".utf8)).redirection == .asks(place))
        #expect(
            ServerError(Array("TRYAGAIN Multiple keys request during rehashing of slot".utf8)).redirection == .isSplit
        )
        #expect(
            ServerError(Array("CROSSSLOT Keys in request don't hash to the same slot".utf8)).redirection == .isSpread
        )
    }
}
#endif
