import Testing

@testable import CurlTransport

@Suite struct BodySizesTests {
    @Test(
        arguments: [
            // Nothing is known yet.
            ([], 0, 16_384), ([], 255, 16_384), ([], 256, 1024), ([], 10_000, 1024),
            // What is tiny leaves it so.
            ([0, 512], 255, 16_384), ([0, 512], 256, 1024),
            ([513], 256, 16_384), ([513, 0], 256, 16_384), ([16_384], 256, 16_384),
            ([16_385], 0, 262_144), ([16_385], 256, 262_144), ([Int.max], 256, 262_144), ([16_385, 0], 256, 262_144),
        ]
    )
    func aBufferIsAsLargeAsTheLastBodiesWere(bodies: [Int], running: Int, size: Int) {
        var sizes = BodySizes()
        for body in bodies { sizes.note(body) }
        #expect(sizes.bufferSize(atMost: 262_144, beside: running) == size)
        // The user's own limit is one.
        #expect(sizes.bufferSize(atMost: 1024, beside: running) == 1024)
    }

    @Test(arguments: [
        (1, 0, 1), (1 << 20, 1, 1 << 20), (1 << 20, 4, 1 << 20), (1 << 20, 16, 262_144), (1 << 20, 10_000, 419),
        (.max, 1, 4 << 20), (.max, 0, 4 << 20), (.max, .max, 0),
    ])
    func allThatComesAheadOfItsReadersIsBounded(wanted: Int, running: Int, count: Int) {
        #expect(BodySizes.ahead(of: wanted, beside: running) == count)
    }

    @Test
    func aLargeBodyIsForgottenAfterMany() {
        var sizes = BodySizes()
        sizes.note(1 << 20)
        for _ in 0..<63 { sizes.note(600) }
        #expect(sizes.bufferSize(atMost: 262_144, beside: 256) == 262_144)
        sizes.note(600)
        #expect(sizes.bufferSize(atMost: 262_144, beside: 256) == 16_384)
        for _ in 0..<63 { sizes.note(1) }
        #expect(sizes.bufferSize(atMost: 262_144, beside: 256) == 16_384)
        sizes.note(1)
        #expect(sizes.bufferSize(atMost: 262_144, beside: 256) == 1024)
        #expect(sizes.bufferSize(atMost: 262_144, beside: 255) == 16_384)
    }
}
