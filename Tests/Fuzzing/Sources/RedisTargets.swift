import HTTPRecovery

@testable import RedisRecoveryStore

/// What answers where a Redis server is said to be.
enum RedisTargets {
    static func readReplies(_ bytes: [UInt8]) {
        let (whole, problem) = replies(in: bytes, by: max(1, bytes.count))
        let (pieces, sameProblem) = replies(in: bytes, by: 3)
        require(whole == pieces && problem == sameProblem, "replies are the same, however they come: \(whole)")
        for reply in whole { use(reply) }
    }

    private static func replies(in bytes: [UInt8], by count: Int) -> ([Reply], SharedState.StoreError?) {
        guard let reader = ReplyReader() else { fatalError("there is no memory left") }
        var replies: [Reply] = []
        do throws(SharedState.StoreError) {
            for start in stride(from: 0, to: bytes.count, by: count) {
                try reader.feed(bytes[start..<min(start + count, bytes.count)])
                while let reply = try reader.next() { replies.append(reply) }
            }
        } catch {
            return (replies, error)
        }
        return (replies, nil)
    }

    /// Reads what the store does of it.
    private static func use(_ reply: Reply) {
        if case .error(let error) = reply {
            let text = error.storeError.description
            require(text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "logs are printable ASCII: \(text)")
            if case .moved(let place)? = error.redirection { require(place.port > 0, "a place has a port: \(place)") }
        }
        if case .array(let elements) = reply { elements.forEach(use) }
        if case .bytes(let list) = reply { check(GateWatch.gates(in: list), in: list) }
        _ = Message(reply)
        _ = try? reply.integer()
        _ = try? reply.number()
        _ = try? reply.elements(4)
    }

    private static func check(_ gates: [(name: String, rest: UInt64)]?, in list: [UInt8]) {
        guard let gates else { return }
        require(gates.count * 4 <= list.count, "no gate is read that is not in the list")
    }

    /// Where a store is, as somebody has configured it.
    static func readURL(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(SharedState.StoreError) {
            let configuration = try RedisStore.Configuration(url: text)
            let hosts = [configuration.endpoint] + configuration.alternatives
            for case .tcp(_, let port) in hosts.map(\.choice) {
                require((1...65_535).contains(port), "a port is one: \(port)")
            }
            Planted.checkHidden(in: configuration)
        } catch {
            require(!error.description.contains(Planted.secret), "an error shows no part of a URL")
        }
        let planted = "redis://user:\(Planted.secret)@\(text)"
        do throws(SharedState.StoreError) {
            Planted.checkHidden(in: try RedisStore.Configuration(url: planted))
        } catch {
            require(!error.description.contains(Planted.secret), "an error shows no part of a URL")
        }
    }
}
