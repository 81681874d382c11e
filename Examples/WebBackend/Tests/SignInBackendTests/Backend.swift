import Foundation
import ServiceTrials

/// An instance of the backend, as a process of its own.
final class Backend: Sendable {
    private let service: RunningService

    /// Where it listens.
    var url: String { service.url }

    /// Starts an instance.
    ///
    /// - Parameters:
    ///   - frontendAPI: Where Clerk's API is.
    ///   - state: The file that the instances share.
    init(frontendAPI: String, state: String) async throws {
        service = try await .signInBackend(before: frontendAPI, state: state)
    }

    /// Ends it at once, whatever it is doing.
    func kill() {
        service.send(SIGKILL)
    }
}
