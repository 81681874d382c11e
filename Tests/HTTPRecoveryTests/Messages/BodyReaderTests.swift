import Testing

@testable import HTTPRecovery

/// A body that broke off never looks like one that has ended.
struct BodyReaderTests {
    private struct Broken: Error {}

    /// Two chunks, then an error, then an end.
    private struct BrokenChunks: AsyncSequence, Sendable {
        struct AsyncIterator: AsyncIteratorProtocol {
            var count = 0

            mutating func next() async throws -> ArraySlice<UInt8>? {
                count += 1
                switch count {
                case 1, 2: return [UInt8(count)]
                case 3: throw Broken()
                default: return nil
                }
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    }

    @Test
    func theErrorIsRepeatedByEveryFurtherRead() async throws {
        let reader = BodyReader(MessageBody(once: BrokenChunks()))
        let first = await reader.read(upTo: 100)
        #expect(first.bytes == [1, 2])
        #expect(first.error is Broken)
        let second = await reader.read(upTo: 100)
        #expect(second.error is Broken)
        #expect(!second.isWhole)
        await #expect(throws: Broken.self) { try await reader.next() }
    }

    @Test
    func theEndIsRepeatedToo() async throws {
        let reader = BodyReader(MessageBody("ab"))
        #expect(await reader.read(upTo: 100).isWhole)
        #expect(try await reader.next() == nil)
    }
}
