import Glibc
import Testing

@testable import CurlTransport

/// Descriptors whose numbers change their owners while events of theirs are under way.
@Suite(.timeLimit(.minutes(30)))
struct PollerTests {
    private static func pair() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    private static func receive(_ socket: Int32) -> (count: Int, errno: Int32) {
        var byte: UInt8 = 0
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_DONTWAIT))
        return (count, count < 0 ? errno : 0)
    }

    /// A transfer may be paused before anything was wanted of its socket: what comes on it then is its body.
    @Test
    func whatATransferHasIsNotTakenForIdle() async throws {
        let loop = try #require(EventLoop(configuration: CurlTransport.Configuration().normalized()))
        try await Task(executorPreference: loop) {
            let shard = try #require(Shard(loop: loop, isShared: false, stays: true))
            loop.shards.append(shard)
            let poller = try #require(Poller())
            let (socket, peer) = try Self.pair()
            defer { for socket in [socket, peer] { close(socket) } }
            poller.opened(socket)
            poller.want(Poller.inMask, on: socket, for: shard)
            poller.applyChanges()
            poller.remove(socket, isHTTP2: false, isPaused: false)
            poller.applyChanges()
            var bytes: [UInt8] = [1, 2]
            #expect(unsafe send(peer, &bytes, 2, 0) == 2)
            for _ in 0..<2 {
                poller.wait(milliseconds: 0, use: { $0 == socket ? .paused : .nobody }) { _, _, _ in }
                poller.applyChanges()
            }
            #expect(Self.receive(socket) == (1, 0), "it is left for the transfer")
            // The transfer goes on, and ends.
            poller.want(Poller.inMask, on: socket, for: shard)
            var handled = 0
            poller.applyChanges()
            poller.wait(milliseconds: 0, use: { _ in .paused }) { _, _, _ in handled += 1 }
            #expect(handled == 1)
            poller.remove(socket, isHTTP2: false, isPaused: false)
            poller.applyChanges()
            poller.wait(milliseconds: 0, use: { _ in .nobody }) { _, _, _ in }
            #expect(Self.receive(socket) == (0, 0), "what comes on an idle one is thrown away with it")
            poller.close()
        }.value
        await loop.stop()
    }

    /// The number of a connection that never came about may be that of one that libcurl opens without the hook, and then of the
    /// next such one.
    @Test
    func whatWasNeverConnectedIsForgotten() async throws {
        let loop = try #require(EventLoop(configuration: CurlTransport.Configuration().normalized()))
        try await Task(executorPreference: loop) {
            let shard = try #require(Shard(loop: loop, isShared: false, stays: true))
            loop.shards.append(shard)
            let poller = try #require(Poller())
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let (first, firstPeer) = try Self.pair()
            let (second, secondPeer) = try Self.pair()
            defer { for socket in [socket, first, firstPeer, second, secondPeer] { close(socket) } }
            poller.opened(socket)
            poller.want(Poller.outMask, on: socket, for: shard)
            poller.applyChanges()
            poller.remove(socket, isHTTP2: false, isPaused: false)
            for end in [first, second] {
                dup2(end, socket)
                poller.want(Poller.inMask, on: socket, for: shard)
                poller.applyChanges()
                if end == first { poller.remove(socket, isHTTP2: false, isPaused: false) }
                poller.applyChanges()
            }
            var byte: UInt8 = 7
            #expect(unsafe send(secondPeer, &byte, 1, 0) == 1)
            var handled: [Int32] = []
            poller.wait(milliseconds: 0, use: { _ in .nobody }) { socket, _, _ in handled.append(socket) }
            #expect(handled == [socket])
            poller.close()
        }.value
        await loop.stop()
    }

    /// Of a connection whose transfer was over at once nothing was ever wanted, and libcurl says nothing of it.
    @Test(arguments: [false, true])
    func whatStaysIsWatchedWhereItsFramesAreNotLibcurls(isHTTP2: Bool) async throws {
        let loop = try #require(EventLoop(configuration: CurlTransport.Configuration().normalized()))
        try await Task(executorPreference: loop) {
            let poller = try #require(Poller())
            let (socket, peer) = try Self.pair()
            defer { for socket in [socket, peer] { close(socket) } }
            var byte: UInt8 = 7
            poller.opened(socket)
            poller.applyChanges()
            #expect(unsafe send(peer, &byte, 1, 0) == 1)
            poller.wait(milliseconds: 0, use: { _ in .nobody }) { _, _, _ in }
            #expect(Self.receive(socket) == (1, 0), "it may be somebody else's by now")
            poller.stays(socket, isHTTP2: isHTTP2)
            poller.applyChanges()
            #expect(unsafe send(peer, &byte, 1, 0) == 1)
            poller.wait(milliseconds: 0, use: { _ in .nobody }) { _, _, _ in }
            #expect(Self.receive(socket) == (isHTTP2 ? (1, 0) : (0, 0)), "what nobody asked for is thrown away with it")
            // Closed, and given away.
            poller.stays(socket, isHTTP2: isHTTP2)
            poller.closed(socket)
            let (foreign, foreignPeer) = try Self.pair()
            defer { for socket in [foreign, foreignPeer] { close(socket) } }
            dup2(foreign, socket)
            poller.applyChanges()
            #expect(unsafe send(foreignPeer, &byte, 1, 0) == 1)
            poller.wait(milliseconds: 0, use: { _ in .nobody }) { _, _, _ in }
            #expect(Self.receive(foreign) == (1, 0))
            poller.close()
        }.value
        await loop.stop()
    }

    /// libcurl closes a connection that never came about without the hook: in the turn of an event of it, its number may
    /// be that of anything that the program has opened meanwhile.
    @Test
    func whatIsClosedWithoutAWordIsTouchedNoMore() async throws {
        let loop = try #require(EventLoop(configuration: CurlTransport.Configuration().normalized()))
        try await Task(executorPreference: loop) {
            let shard = try #require(Shard(loop: loop, isShared: false, stays: true))
            // The loop frees it at its end.
            loop.shards.append(shard)
            let poller = try #require(Poller())
            let (first, firstPeer) = try Self.pair()
            let (second, secondPeer) = try Self.pair()
            let (foreign, foreignPeer) = try Self.pair()
            defer { for socket in [first, firstPeer, second, secondPeer, foreign, foreignPeer] { close(socket) } }
            for socket in [first, second] {
                poller.opened(socket)
                poller.want(Poller.outMask, on: socket, for: shard)
            }
            poller.applyChanges()
            var handled: [Int32] = []
            poller.wait(milliseconds: 0, use: { _ in .nobody }) { socket, _, _ in
                handled.append(socket)
                let other = socket == first ? second : first
                poller.remove(other, isHTTP2: false, isPaused: false)
                // It is closed with that, and the number given away.
                dup2(foreign, other)
            }
            #expect(handled.count == 1)
            let taken = handled == [first] ? second : first
            #expect(Self.receive(foreignPeer) == (-1, EAGAIN), "the other's connection stands")
            poller.applyChanges()
            var byte: UInt8 = 7
            #expect(unsafe send(foreignPeer, &byte, 1, 0) == 1)
            poller.wait(milliseconds: 0, use: { _ in .nobody }) { socket, _, _ in handled.append(socket) }
            #expect(!handled.contains(taken))
            #expect(Self.receive(foreign) == (1, 0), "and what comes in on it is left alone")
            poller.close()
        }.value
        await loop.stop()
    }

    /// Another of libcurl's own, which it opens without the hook as its resolver does, can have the number at once.
    @Test
    func aNumberThatLibcurlUsesAgainIsWatched() async throws {
        let loop = try #require(EventLoop(configuration: CurlTransport.Configuration().normalized()))
        try await Task(executorPreference: loop) {
            let shard = try #require(Shard(loop: loop, isShared: false, stays: true))
            loop.shards.append(shard)
            let poller = try #require(Poller())
            let (first, firstPeer) = try Self.pair()
            let (second, secondPeer) = try Self.pair()
            defer { for socket in [first, firstPeer, second, secondPeer] { close(socket) } }
            poller.opened(first)
            poller.want(Poller.outMask, on: first, for: shard)
            poller.applyChanges()
            poller.remove(first, isHTTP2: false, isPaused: false)
            dup2(second, first)
            poller.want(Poller.inMask, on: first, for: shard)
            poller.applyChanges()
            var byte: UInt8 = 7
            #expect(unsafe send(secondPeer, &byte, 1, 0) == 1)
            var handled: [Int32] = []
            poller.wait(milliseconds: 0, use: { _ in .nobody }) { socket, _, _ in handled.append(socket) }
            // If a process is being started elsewhere, it holds the first one for a moment, and the kernel tells of both.
            #expect(Set(handled) == [first])
            poller.close()
        }.value
        await loop.stop()
    }
}
