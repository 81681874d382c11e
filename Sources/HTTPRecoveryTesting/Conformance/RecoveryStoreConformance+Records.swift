import HTTPRecovery

extension RecoveryStoreConformance {
    static let recordChecks: [Check] = [
        Check("a record is created only if there is none") { bench in
            let store = try await bench.makeStore()
            try bench.expect(try await store.record("a"), is: nil, "before")
            for version in [UInt64(0), 1, .max] {
                let result = try await store.replaceRecord("a", version: version, with: [9])
                try bench.expect(result, is: nil, "version \(version) of a record that is not there")
            }
            let created = try bench.stored(try await store.replaceRecord("a", version: nil, with: [1]), "creating it")
            try bench.expect(created.bytes, is: [1], "content")
            try bench.expect(created.version > 0, "a version is at least 1")
            try bench.expect(try await store.replaceRecord("a", version: nil, with: [2]), is: nil, "creating it again")
            try bench.expect(try await store.record("a"), is: created, "read again")
            try bench.expect(try await store.record("b"), is: nil, "another key")
        },
        Check("a record is replaced only where it is the one that was read") { bench in
            let store = try await bench.makeStore()
            var last = try bench.stored(try await store.replaceRecord("a", version: nil, with: []), "creating it")
            for round in 1...5 {
                let bytes = [UInt8(round)]
                let next = try bench.stored(
                    try await store.replaceRecord("a", version: last.version, with: bytes),
                    "round \(round)"
                )
                try bench.expect(next.version > last.version, "the version must grow: \(last.version), \(next.version)")
                for stale in [last.version, 0, next.version + 1, .max] {
                    let result = try await store.replaceRecord("a", version: stale, with: [0])
                    try bench.expect(result, is: nil, "version \(stale), while \(next.version) is stored")
                }
                try bench.expect(try await store.record("a"), is: next, "read again")
                last = next
            }
            // The same content is a change all the same.
            let same = try bench.stored(
                try await store.replaceRecord("a", version: last.version, with: last.bytes),
                "the same"
            )
            try bench.expect(same.version > last.version, "the version must grow with the same content too")
        },
        Check("64 that count at once lose nothing") { bench in
            let store = try await bench.makeStore()
            _ = try await bench.concurrently { _ in
                while true {
                    let present = try await store.record("count")
                    let count = present.flatMap { Int(String(decoding: $0.bytes, as: UTF8.self)) } ?? 0
                    let bytes = Array("\(count + 1)".utf8)
                    if try await store.replaceRecord("count", version: present?.version, with: bytes) != nil { return }
                }
            }
            let end = try bench.stored(try await store.record("count"), "the count")
            try bench.expect(String(decoding: end.bytes, as: UTF8.self), is: "64", "the count")
        },
        Check("a record holds any bytes, 256 KiB of them too") { bench in
            let store = try await bench.makeStore()
            let random = Runtime.RandomSource(seed: 5)
            let large = (0..<(256 * 1024)).map { _ in UInt8(truncatingIfNeeded: random.bits()) }
            let contents: [[UInt8]] = [
                [], [0], Array(0...255), Array("'; DROP TABLE record; -- \r\n$5\r\nhello".utf8), [0xFF, 0xFE], large,
            ]
            for (index, content) in contents.enumerated() {
                let stored = try bench.stored(
                    try await store.replaceRecord("\(index)", version: nil, with: content),
                    "content \(index)"
                )
                let found = try bench.stored(try await store.record("\(index)"), "content \(index)")
                try bench.expect(found.bytes == content, "content \(index) must come back as it was")
                try bench.expect(found.version, is: stored.version, "version of content \(index)")
            }
        },
        Check("many records, and odd keys") { bench in
            let store = try await bench.makeStore()
            let odd = [
                "", " ", "a", "A", "a:b", "a|b", "a\nb", "ä", "a\u{0}b", "%", String(repeating: "k", count: 5000),
            ]
            let keys = odd + (0..<150).map { "key \($0)" }
            _ = try await bench.concurrently(keys.count) { index in
                try await store.replaceRecord(keys[index], version: nil, with: Array("content \(index)".utf8))
            }
            for (index, key) in keys.enumerated() {
                let found = try bench.stored(try await store.record(key), "the record of \(key.debugDescription)")
                try bench.expect(String(decoding: found.bytes, as: UTF8.self), is: "content \(index)", "content")
            }
        },
        Check("a record that lasts for a while goes, and its version with it", needs: .skipsTime) { bench in
            let store = try await bench.makeStore()
            func put(_ key: String, _ version: UInt64?, _ lifetime: Duration?) async throws -> SharedState.Record? {
                try await store.replaceRecord(key, version: version, with: [1], lasting: lifetime, at: bench.now)
            }
            let short = try bench.stored(try await put("short", nil, .seconds(60)), "a record for a minute")
            try bench.expect(try await store.record("short"), is: short, "at once")
            let kept = try bench.stored(try await put("kept", nil, .seconds(60)), "a record that is made to stay")
            _ = try bench.stored(try await put("kept", kept.version, nil), "kept for good")
            let moved = try bench.stored(try await put("moved", nil, .seconds(60)), "a record that is prolonged")
            _ = try bench.stored(try await put("moved", moved.version, .seconds(86_400)), "prolonged")
            try await bench.advance(by: .seconds(3600))
            _ = try await put("other", nil, .seconds(60))
            try bench.expect(try await store.record("short"), is: nil, "an hour later")
            try bench.expect(try await store.record("kept") != nil, "what is kept for good stays")
            try bench.expect(try await store.record("moved") != nil, "what was prolonged stays")
            let again = try bench.stored(try await put("short", nil, .seconds(60)), "creating it once more")
            try bench.expect(again.version > short.version, "no version is given a second time")
        },
        Check("a record stays for days", needs: .skipsTime) { bench in
            let store = try await bench.makeStore()
            let record = try await store.replaceRecord("a", version: nil, with: [1])
            try await bench.advance(by: .seconds(40 * 86_400))
            try await store.close(bench.gate("a", opensIn: StoreBench.long), at: bench.now)
            _ = try await store.acquireLease("a", for: StoreBench.long, at: bench.now)
            try bench.expect(try await store.record("a"), is: record, "after 40 days")
        },
    ]
}
