import HTTPRecovery
import HTTPRecoveryFoundation
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The example of the documentation, compiled.
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
