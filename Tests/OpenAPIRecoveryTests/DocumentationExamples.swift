import HTTPRecovery
import HTTPRecoveryTesting
import OpenAPIRecovery
import OpenAPIRuntime
import RecoveryObservability

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The examples of the article, compiled; with another transport than libcurl's, which would have to be installed.
private func exampleOfATransport(url: URL) -> Client {
    typealias CurlTransport = ScriptedTransport
    let client = RecoveringClient(transport: CurlTransport())
    let api = Client(serverURL: url, transport: RecoveringTransport(client))
    return api
}

private func exampleOfAMiddleware(url: URL, transport: any ClientTransport) -> Client {
    let api = Client(serverURL: url, transport: transport, middlewares: [RecoveringMiddleware()])
    return api
}

#if Observability
private func exampleOfObservability(url: URL, transport: any ClientTransport) -> Client {
    let middleware = RecoveringMiddleware(observability: Observability())
    let api = Client(serverURL: url, transport: transport, middlewares: [middleware])
    return api
}
#endif

private func exampleOfRules(url: URL, client: RecoveringClient) -> Client {
    let rules = RecoveringTransport.Rules(
        replayable: ["searchNotes"],
        idempotencyKeys: ["createNote"],
        adjust: { operationID, options in
            if operationID == "exportNotes" { options.buffering = .streamed }
        }
    )
    let api = Client(serverURL: url, transport: RecoveringTransport(client, rules: rules))
    return api
}

private func exampleOfErrors(api: Client) async throws {
    do {
        _ = try await api.getNote(.init(path: .init(id: "1")))
    } catch let error as ClientError {
        guard let failure = error.underlyingError as? RecoveryError else { throw error }
        print(failure.userMessage, failure.reason, failure.retryAfter ?? .zero)
    }
}
