import Synchronization

/// The body of a request or a response: a sequence of byte chunks that knows whether it can be read again.
///
/// Whether a request may be sent a second time depends on its body, so ``replayability`` is part of the value: bytes,
/// files and re-callable streams can be read any number of times, a one-shot stream only once.
public struct MessageBody: Sendable, AsyncSequence {
    /// One piece of the body.
    public typealias Element = ArraySlice<UInt8>

    /// Whether a body can be read more than once.
    public enum Replayability: Sendable, Hashable {
        /// Every iteration starts again at the first byte.
        case replayable
        /// The bytes pass by once; a second iteration throws ``MessageBody/ReadError/alreadyConsumed``, or ends the first if
        /// what has passed by was kept.
        case once
    }

    /// Reads one body from its start to its end.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Given how many bytes are wanted at least; most sources give what they have.
        private var produce: (_ count: Int) async throws -> Element?

        init(_ produce: @escaping () async throws -> Element?) {
            self.produce = { _ in try await produce() }
        }

        fileprivate init(waiting produce: @escaping (_ count: Int) async throws -> Element?) {
            self.produce = produce
        }

        /// The next chunk, or nil at the end.
        public mutating func next() async throws -> Element? {
            try await produce(1)
        }

        /// The next chunk, of so many bytes at least if the source can wait for them and does not end before.
        package mutating func next(atLeast count: Int) async throws -> Element? {
            try await produce(count)
        }
    }

    private enum Source: Sendable {
        case bytes(ArraySlice<UInt8>)
        case stream(@Sendable () -> AsyncIterator)
        case oneShot(OneShot, @Sendable () -> AsyncIterator)
    }

    private let source: Source

    /// The most that a collecting reader lets a stream keep back for it.
    static let largestPiece = 4 << 20

    /// The number of bytes, if it is known beforehand.
    public let length: Int?

    /// Creates a body from a function that begins each reading.
    init(_ replayability: Replayability, length: Int?, reading makeIterator: @escaping @Sendable () -> AsyncIterator) {
        let source: Source = replayability == .once ? .oneShot(OneShot(), makeIterator) : .stream(makeIterator)
        self.init(source: source, length: length)
    }

    /// Creates a body of which a log keeps what was read.
    init(_ log: ReplayLog, length: Int?) {
        self.init(source: .oneShot(OneShot(log), { log.read() }), length: length)
    }

    private init(source: Source, length: Int?) {
        self.source = source
        self.length = length
    }

    /// An empty body.
    public static let empty = MessageBody([UInt8]())

    /// Creates a body from bytes.
    public init(_ bytes: some Sequence<UInt8>) {
        self.init(slice: ArraySlice(bytes))
    }

    /// Creates a body from bytes, without copying them.
    public init(_ bytes: [UInt8]) {
        self.init(slice: bytes[...])
    }

    /// Creates a body from the UTF-8 bytes of a text.
    public init(_ text: String) {
        self.init(slice: ArraySlice(text.utf8))
    }

    private init(slice: ArraySlice<UInt8>) {
        self.init(source: .bytes(slice), length: slice.count)
    }

    /// Creates a body from a function that makes a fresh stream of chunks for each reading.
    ///
    /// - Parameters:
    ///   - length: The number of bytes every stream delivers, if it is known.
    ///   - makeStream: Called once per reading.
    public init<Stream: AsyncSequence & Sendable>(
        length: Int? = nil,
        makeStream: @escaping @Sendable () -> Stream
    ) where Stream.Element == ArraySlice<UInt8> {
        self.init(source: .stream({ .reading(makeStream()) }), length: length)
    }

    /// Creates a body from a stream that can be read only once.
    ///
    /// A transport that sends one with a length asks for no more once that much has come; a piece that goes beyond it is an
    /// error.
    public init<Stream: AsyncSequence & Sendable>(
        once stream: Stream,
        length: Int? = nil
    ) where Stream.Element == ArraySlice<UInt8> {
        self.init(source: .oneShot(OneShot(), { .reading(stream) }), length: length)
    }

    /// Creates a body from a stream that can be read only once, and can wait until more has come.
    package init<Stream: AsyncSequence & Sendable>(
        once stream: Stream,
        length: Int? = nil
    ) where Stream.AsyncIterator: PatientIterator {
        self.init(source: .oneShot(OneShot(), { .waiting(stream) }), length: length)
    }

    /// Whether the body can be read more than once.
    public var replayability: Replayability {
        if case .oneShot = source { .once } else { .replayable }
    }

    /// Whether reading the body from its start is (still) possible.
    ///
    /// A one-shot stream that nobody has begun to read can still be sent, and one of which all is kept that was read.
    public var canBeRead: Bool {
        if case .oneShot(let shot, _) = source { !shot.isTaken } else { true }
    }

    /// Whether the bytes are there already.
    var isInMemory: Bool {
        switch source {
        case .bytes: true
        case .stream, .oneShot: false
        }
    }

    /// The bytes, if the whole body is in memory.
    public var bytesInMemory: ArraySlice<UInt8>? {
        if case .bytes(let bytes) = source { bytes } else { nil }
    }

    /// Begins to read the body.
    public func makeAsyncIterator() -> AsyncIterator {
        switch source {
        case .bytes(let bytes):
            var rest: ArraySlice<UInt8>? = bytes.isEmpty ? nil : bytes
            return AsyncIterator {
                defer { rest = nil }
                return rest
            }
        case .stream(let make):
            return make()
        case .oneShot(let shot, let make):
            guard shot.take() else { return AsyncIterator { throw MessageBody.ReadError.alreadyConsumed } }
            return make()
        }
    }

    /// The same body, which tells what each reading of a piece comes to; one that is in memory tells nothing.
    package func noting(_ note: @escaping @Sendable (Result<Element?, any Error>) -> Void) -> MessageBody {
        wrapping { $0.noting(note) }
    }

    /// The same body, each reading of which passes through another; one in memory stays as it is.
    func wrapping(_ wrap: @escaping @Sendable (AsyncIterator) -> AsyncIterator) -> MessageBody {
        switch source {
        case .bytes: self
        case .stream(let make): MessageBody(source: .stream({ wrap(make()) }), length: length)
        case .oneShot(let shot, let make): MessageBody(source: .oneShot(shot, { wrap(make()) }), length: length)
        }
    }

    /// The same body, which has a place among what is under way until its first reading ends, or nobody has the body any more.
    func holding(_ place: InFlight.Place) -> MessageBody {
        let held = Locked<InFlight.Place?>(place)
        return wrapping { iterator in
            // From here on the reading has it, so that one that is given up leaves it.
            guard let place = held.withLock({ $0.take() }) else { return iterator }
            return iterator.noting { piece in
                if case .success(.some) = piece { return }
                place.leave()
            }
        }
    }

    /// In what pieces a body in memory is handed over whose progress is to be seen.
    static let pieceSize = 65_536

    /// The same body as a stream, whose pieces can be seen.
    var inPieces: MessageBody {
        guard let bytes = bytesInMemory else { return self }
        return MessageBody(.replayable, length: length) {
            var rest = bytes
            return AsyncIterator {
                defer { rest = rest.dropFirst(Self.pieceSize) }
                return rest.isEmpty ? nil : rest.prefix(Self.pieceSize)
            }
        }
    }

    /// How many bytes to wait for if so many are accepted: one past the limit is enough to know.
    static func wanted(upTo rest: Int) -> Int {
        Swift.max(0, Swift.min(rest, largestPiece - 1)) + 1
    }

    /// Reads the whole body into memory.
    ///
    /// - Parameter limit: The most bytes to accept.
    /// - Throws: ``MessageBody/ReadError/tooLarge(limit:)`` as soon as a byte comes that is past the limit.
    public func collect(upTo limit: Int) async throws -> [UInt8] {
        if let length, length > limit { throw MessageBody.ReadError.tooLarge(limit: limit) }
        if let bytesInMemory { return Array(bytesInMemory) }
        var collected = ByteCollector()
        var iterator = makeAsyncIterator()
        while true {
            let wanted = Self.wanted(upTo: limit - collected.count)
            guard let chunk = try await iterator.next(atLeast: wanted) else { break }
            if chunk.count > limit - collected.count { throw MessageBody.ReadError.tooLarge(limit: limit) }
            collected.append(chunk)
        }
        return collected.joined()
    }
}

/// An iterator that can wait until more than a byte has come, which spares its consumer to be resumed for each piece.
package protocol PatientIterator: AsyncIteratorProtocol where Element == ArraySlice<UInt8> {
    /// The next piece, of fewer bytes only if the body ends with it.
    mutating func next(atLeast count: Int) async throws -> Element?
}

extension MessageBody.AsyncIterator {
    func noting(
        _ note: @escaping (Result<MessageBody.Element?, any Error>) -> Void
    ) -> MessageBody.AsyncIterator {
        var iterator = self
        return MessageBody.AsyncIterator(waiting: { count in
            do {
                let chunk = try await iterator.next(atLeast: count)
                note(.success(chunk))
                return chunk
            } catch {
                note(.failure(error))
                throw error
            }
        })
    }

    static func reading<Stream: AsyncSequence>(_ stream: Stream) -> MessageBody.AsyncIterator
    where Stream.Element == ArraySlice<UInt8> {
        var iterator = stream.makeAsyncIterator()
        return MessageBody.AsyncIterator { try await iterator.next(isolation: #isolation) }
    }

    fileprivate static func waiting<Stream: AsyncSequence>(_ stream: Stream) -> MessageBody.AsyncIterator
    where Stream.AsyncIterator: PatientIterator {
        var iterator = stream.makeAsyncIterator()
        return MessageBody.AsyncIterator(waiting: { try await iterator.next(atLeast: $0) })
    }
}

/// Remembers whether a one-shot stream has been handed out, and cannot be again.
private final class OneShot: Sendable {
    private let taken = Atomic(false)
    /// Keeps what was read, if somebody does; then it can be handed out until that is given up.
    private let log: MessageBody.ReplayLog?

    init(_ log: MessageBody.ReplayLog? = nil) {
        self.log = log
    }

    var isTaken: Bool { log.map { !$0.canBeRead } ?? taken.load(ordering: .acquiring) }

    func take() -> Bool {
        log != nil || !taken.exchange(true, ordering: .acquiringAndReleasing)
    }
}
