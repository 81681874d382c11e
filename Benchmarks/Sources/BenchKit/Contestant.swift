/// Sends one and the same request each time, and returns the size of the body that came.
///
/// It throws where there was no answer, or one with another status than 200.
public typealias Call = @Sendable () async throws -> Int

/// A request that is sent again and again.
public struct Errand: Sendable {
    /// Where it goes.
    public var url: String
    /// What is posted; nil is a GET.
    public var body: String?

    /// The fields of each request.
    public static let fields = [("User-Agent", "bench"), ("Accept", "application/json")]
}

/// A client that takes part.
public protocol Contestant: Sendable {
    /// Creates a client for what is to be done.
    init(_ settings: Settings) throws

    /// Prepares what can be prepared.
    func call(_ errand: Errand) throws -> Call

    /// Where the tasks run that call; nil is where tasks run by default.
    var executor: (any TaskExecutor)? { get }

    /// Ends what the client has running.
    func shutdown() async throws
}

extension Contestant {
    /// Where tasks run by default.
    public var executor: (any TaskExecutor)? { nil }
}

/// Why a measurement is worth nothing.
public struct Spoilt: Error, CustomStringConvertible {
    /// The reason.
    public let description: String

    /// Creates a reason.
    public init(_ description: String) {
        self.description = description
    }
}
