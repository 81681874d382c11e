import AuthRecovery
import HTTPRecovery
import HTTPTypes
import Testing

@Suite struct DPoPNoncesTests {
    private func origin(_ number: Int) -> Origin { Origin(scheme: "https", authority: "h\(number).example.com") }
    private func fields(_ lines: String...) -> HTTPFields {
        HTTPFields(lines.map { HTTPField(name: HTTPField.Name("DPoP-Nonce")!, value: $0) })
    }

    @Test func eachOriginHasItsOwnAndTheNewestCounts() {
        let nonces = DPoPAuthorization.Nonces()
        nonces.keep(fields("a"), from: origin(1))
        nonces.keep(fields("b"), from: origin(2))
        nonces.keep(fields("c"), from: origin(1))
        nonces.keep([:], from: origin(1))
        #expect(nonces[origin(1)] == "c")
        #expect(nonces[origin(2)] == "b")
        #expect(nonces[origin(3)] == nil)
    }

    @Test func whatIsNoNonceChangesNothing() {
        let nonces = DPoPAuthorization.Nonces()
        nonces.keep(fields("good"), from: origin(1))
        for text in ["", "a b", "a\"b", "a\\b", "ä", String(repeating: "x", count: 4097)] {
            nonces.keep(fields(text), from: origin(1))
            #expect(nonces[origin(1)] == "good")
        }
        nonces.keep(fields("first", "last"), from: origin(1))
        #expect(nonces[origin(1)] == "last")
        nonces.keep(fields(String(repeating: "x", count: 4096)), from: origin(1))
        #expect(nonces[origin(1)]?.utf8.count == 4096)
    }

    @Test func theOriginThatWasSilentLongestGoesFirst() {
        let nonces = DPoPAuthorization.Nonces(capacity: 2)
        nonces.keep(fields("1"), from: origin(1))
        nonces.keep(fields("2"), from: origin(2))
        nonces.keep(fields("1"), from: origin(1))
        nonces.keep(fields("3"), from: origin(3))
        #expect(nonces[origin(2)] == nil)
        #expect(nonces[origin(1)] == "1")
        #expect(nonces[origin(3)] == "3")
    }

    @Test func manyTasksMayUseIt() async {
        let nonces = DPoPAuthorization.Nonces(capacity: 8)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<500 {
                        let origin = Origin(scheme: "https", authority: "h\((task + number) % 16).example.com")
                        nonces.keep(
                            HTTPFields([HTTPField(name: HTTPField.Name("DPoP-Nonce")!, value: "n")]),
                            from: origin
                        )
                        _ = nonces[origin]
                    }
                }
            }
        }
        let kept = (0..<16).count { nonces[origin($0)] != nil }
        #expect(kept == 8)
    }

    @Test func aServersTimeIsLearnedPerOrigin() {
        let clocks = ServerClocks()
        let now = Timestamp(secondsSinceEpoch: 1_893_456_000)
        let date: (String) -> HTTPFields = { [.date: $0] }
        #expect(clocks.time(at: origin(1), wallTime: now) == now)
        clocks.keep(date("Tue, 01 Jan 2030 00:00:02 GMT"), from: origin(1), receivedAt: now)
        #expect(clocks.time(at: origin(1), wallTime: now) == now, "a slow answer explains it")
        clocks.keep(date("Mon, 31 Dec 2029 23:00:00 GMT"), from: origin(1), receivedAt: now)
        #expect(clocks.time(at: origin(1), wallTime: now) == now.advanced(by: .seconds(-3600)))
        #expect(clocks.time(at: origin(2), wallTime: now) == now)
        clocks.keep(date("nonsense"), from: origin(1), receivedAt: now)
        #expect(clocks.time(at: origin(1), wallTime: now) != now, "an unreadable date changes nothing")
        clocks.keep(date("Tue, 01 Jan 2030 00:00:00 GMT"), from: origin(1), receivedAt: now)
        #expect(clocks.time(at: origin(1), wallTime: now) == now)
    }
}
