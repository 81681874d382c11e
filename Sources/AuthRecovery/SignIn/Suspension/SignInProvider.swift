public import HTTPRecovery

/// A provider whose sign-ins can be kept between the requests of a web backend.
public protocol SignInProvider<Session>: Sendable {
    /// What a finished sign-in gives.
    associatedtype Session: Sendable

    /// Sends the requests.
    var client: RecoveringClient { get }

    /// Makes the machine that has written a memory.
    ///
    /// - Parameter memory: A ``SignInMachine/memory`` of this provider's.
    /// - Returns: Nil if it is none.
    func signInMachine(from memory: JSONValue) -> (any SignInMachine<Session>)?
}
