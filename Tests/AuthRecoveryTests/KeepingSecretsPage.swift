import AuthRecovery
import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A service that keeps a text under a name, and tells its versions apart.
protocol Vault: Sendable {
    func fetch(_ name: String) async throws -> (text: Secret, version: UInt64)?

    /// Stores the text if the version is still there, 0 for none; nil if another is.
    func put(_ text: Secret, at name: String, replacing version: UInt64) async throws -> UInt64?
}

/// Somebody's credentials in a vault; who may renew them is agreed on in the client's shared state.
struct VaultTokenStore: TokenStore {
    let vault: any Vault
    let user: String
    let state: SharedState

    var identity: String? { user }

    func read() async throws -> Credentials.Stored {
        guard let kept = try await asked({ try await vault.fetch(user) }) else {
            return Credentials.Stored(Credentials(), version: 0)
        }
        guard let json = try? JSONValue(parsing: kept.text.reveal()) else {
            throw Credentials.StoreError("what the vault holds is no JSON; removing it starts afresh")
        }
        return Credentials.Stored(try Credentials(json: json), version: kept.version)
    }

    func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? {
        let text = Secret(credentials.json.description)
        let stored = try await asked { try await vault.put(text, at: user, replacing: version) }
        return stored.map { Credentials.Stored(credentials, version: $0) }
    }

    func acquireLease(for duration: Duration, time: TimeSource) async throws -> (any Credentials.Lease)? {
        guard let lease = await state.acquireLease("renewal of \(user)", for: duration) else { return nil }
        return VaultLease(state: state, lease: lease)
    }

    /// A vault's own errors may hold what it was asked: they go no further.
    private func asked<Value>(_ question: () async throws -> Value) async throws -> Value {
        do {
            return try await question()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw Credentials.StoreError("the vault does not answer")
        }
    }
}

struct VaultLease: Credentials.Lease {
    let state: SharedState
    let lease: SharedState.Lease

    var fence: UInt64 { lease.fence }

    func extend(for duration: Duration) async -> Bool { await state.extendLease(lease, for: duration) }

    func release() async { await state.releaseLease(lease) }
}

/// The page about secrets: what it shows does what it says.
@Suite struct KeepingSecretsPage {
    /// Turns bytes around: no secrecy, but they cannot be read in passing.
    private struct Reversing: CredentialSealing {
        func seal(_ plaintext: [UInt8], at place: String) throws -> [UInt8] { plaintext.reversed() }
        func open(_ sealed: [UInt8], at place: String) throws -> [UInt8] { sealed.reversed() }
    }

    @Test func aSecretIsNotPrinted() {
        var output = ""
        func print(_ items: Any...) { output += items.map { "\($0)" }.joined(separator: " ") }
        let password: Secret = "open-sesame-42"
        print(password, [password])  // [secret] [[secret]]
        #expect(output == "[secret] [[secret]]")
    }

    @Test func aSharedStoreHoldsNoPlainToken() async throws {
        let store = InMemoryRecoveryStore()
        let client = RecoveringClient(transport: ScriptedTransport(), runtime: Runtime(store: store))
        let (id, sealing) = ("ada", Reversing())
        let tokens = SharedTokenStore(client.runtime.state, name: "user/\(id)", sealing: sealing)
        _ = try await tokens.replace(version: 0, with: Credentials(accessToken: "the-token"))
        let held = store.records.values.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(held.count == 1 && !held[0].contains("the-token"))
        #expect(try await tokens.read().credentials.accessToken == "the-token")
    }

    private actor PaperVault: Vault {
        private(set) var texts: [String: (text: Secret, version: UInt64)] = [:]
        private var isAway = false

        func leave() { isAway = true }

        func fetch(_ name: String) throws -> (text: Secret, version: UInt64)? {
            if isAway { throw CocoaError(.fileReadUnknown) }
            return texts[name]
        }

        func put(_ text: Secret, at name: String, replacing version: UInt64) -> UInt64? {
            guard texts[name]?.version ?? 0 == version else { return nil }
            texts[name] = (text, version + 1)
            return version + 1
        }
    }

    /// What has come is kept, a change that comes late changes nothing, and one renews at a time.
    @Test func aTokenStoreOfOnesOwn() async throws {
        let (vault, state) = (PaperVault(), SharedState(InMemoryRecoveryStore()))
        let tokens = VaultTokenStore(vault: vault, user: "ada", state: state)
        #expect(try await tokens.read().version == 0)
        let first = try await tokens.update { $0 = Credentials(accessToken: "A", refreshToken: "R") }
        #expect(try await tokens.read() == first)
        #expect(try await tokens.replace(version: 0, with: Credentials()) == nil)
        #expect(try await tokens.clear(.access, ifVersion: 1) == false)
        #expect(try await tokens.read() == first)
        let lease = try await tokens.acquireLease(for: .seconds(30), time: .system)
        #expect(try await tokens.acquireLease(for: .seconds(30), time: .system) == nil)
        #expect(await lease?.extend(for: .seconds(30)) == true)
        await lease?.release()
        #expect(try await tokens.acquireLease(for: .seconds(30), time: .system) != nil)
        await vault.leave()
        await #expect(throws: Credentials.StoreError.self) { try await tokens.read() }
    }

    @Test func noOtherOriginIsShownTheToken() async throws {
        let transport = ScriptedTransport()
        let tokens = InMemoryTokenStore(Credentials(accessToken: "T"))
        let audience: Set<Origin> = [try Origin(url: "https://api.example.com")]
        let client = RecoveringClient(transport: transport) {
            Recovery { SessionRenewal(tokens) }
            Authorization(tokens, audience: audience)
        }
        for url in ["https://api.example.com/a", "https://api.example.com.evil.example/a", "http://api.example.com/a"] {
            _ = try await client.send(HTTPRequest(url: url))
        }
        #expect(transport.received.map { $0.request.headerFields[.authorization] } == ["Bearer T", nil, nil])
    }
}
