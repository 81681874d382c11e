import HTTPRecovery
import HTTPRecoveryFoundation
import HTTPRecoveryTesting
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The examples of the documentation, compiled.
private func example(client: RecoveringClient) async throws {
    struct Item: Codable {
        var id: Int
        var name: String
    }

    let request = try HTTPRequest(method: .post, url: "https://api.example.com/items")
    do {
        let response = try await client.send(request, json: Item(id: 1, name: "a"))
        let item = try await response.decoded(as: Item.self)
        print(item.name)
    } catch let error as RecoveryError {
        print(error.userMessage, error.recoverySuggestion ?? "")
    }
}

/// That of "Getting started"; Scripts/linkage builds it with libcurl's transport.
private func firstProgram() async throws {
    typealias CurlTransport = ScriptedTransport

    struct Item: Codable {
        var id: Int
        var name: String
    }

    let client = RecoveringClient(transport: CurlTransport())
    do {
        let response = try await client.send(HTTPRequest(url: "https://api.example.com/items/1"))
        let item = try await response.decoded(as: Item.self)
        let answer = try await client.send(HTTPRequest(method: .post, url: "https://api.example.com/items"), json: item)
        print(answer.status, "after", answer.history.attempts.count, "attempts")
    } catch let error as RecoveryError {
        print(error.userMessage)  // for a person
        print(error)  // for a log: no URL, header or body stands in it
    }
    await client.shutdown()
}
