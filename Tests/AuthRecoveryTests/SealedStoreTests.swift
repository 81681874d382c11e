import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import ProcessSupport
import SignInSupport
import Testing

/// What both stores promise about sealed credentials, whatever the cipher.
@Suite struct SealedStoreTests {
    /// A place for one store's stored form, opened with or without a sealing.
    struct Place: CustomTestStringConvertible {
        var testDescription: String
        var make: @Sendable () -> Opened

        struct Opened {
            var store: @Sendable (_ identity: String, _ sealing: (any CredentialSealing)?) -> any TokenStore
            /// The stored form, and how to put another in its place.
            var text: @Sendable () async -> String?
            var write: @Sendable (String) async -> Void
        }
    }

    static let places = [
        Place(testDescription: "file") {
            let directory = TemporaryDirectory()
            let path = directory.file("tokens.json")
            return Place.Opened(
                store: { FileTokenStore(path: path, identity: $0, sealing: $1) },
                text: { withExtendedLifetime(directory) { TemporaryDirectory.read(path) } },
                write: { TemporaryDirectory.write($0, to: path) }
            )
        },
        Place(testDescription: "shared") {
            let state = SharedState(InMemoryRecoveryStore())
            let written: @Sendable () async -> SharedState.Record? = { try? await state.record("credentials:alice") }
            return Place.Opened(
                store: { SharedTokenStore(state, name: $0, sealing: $1) },
                text: { await written().map { String(decoding: $0.bytes, as: UTF8.self) } },
                write: { text in
                    let version = await written()?.version
                    _ = try? await state.replaceRecord("credentials:alice", version: version, with: Array(text.utf8))
                }
            )
        },
    ]

    private static let sample = Credentials(accessToken: "s3cret", others: [JSONValue.Member("x", 1)])

    @Test(arguments: places) func whatIsSealedIsReadAndHoldsNothingInPlain(place: Place) async throws {
        let place = place.make()
        let store = place.store("alice", MarkingSealing())
        #expect(try await store.read() == Credentials.Stored(Credentials(), version: 0))
        let stored = try await store.update { $0 = Self.sample }
        #expect(stored.credentials == Self.sample)
        #expect(try await place.store("alice", MarkingSealing()).read() == stored)
        let text = try #require(await place.text())
        #expect(text.hasPrefix("{\"sealed\":\""))
        #expect(try JSONValue(parsing: text).members?.count == 1)
        for word in ["s3cret", "access_token", "terc3s"] { #expect(!text.contains(word)) }
    }

    @Test(arguments: places) func theSameCredentialsSealedAgainAreAnotherVersion(place: Place) async throws {
        let store = place.make().store("alice", MarkingSealing())
        let first = try await store.update { $0 = Self.sample }
        let again = try #require(try await store.replace(version: first.version, with: Self.sample))
        #expect(again.version != first.version)
        #expect(try await store.replace(version: first.version, with: Self.sample) == nil)
    }

    @Test(arguments: places) func plainOnesAreReadAndSealedByTheNextChange(place: Place) async throws {
        let place = place.make()
        try await place.store("alice", nil).update { $0 = Self.sample }
        let plain = try #require(await place.text())
        #expect(plain.contains("s3cret"))
        let store = place.store("alice", MarkingSealing())
        let present = try await store.read()
        #expect(present.credentials == Self.sample)
        #expect(await place.text() == plain, "reading writes nothing")
        _ = try #require(try await store.replace(version: present.version, with: present.credentials))
        #expect(await place.text()?.contains("s3cret") == false)
        #expect(try await store.read().credentials == Self.sample)
    }

    enum Reader: CaseIterable, Sendable {
        case withoutSealing, withAnotherKey, underAnotherName

        var identity: String { self == .underAnotherName ? "bob" : "alice" }

        var sealing: MarkingSealing? {
            switch self {
            case .withoutSealing: nil
            case .withAnotherKey: MarkingSealing(key: "k2")
            case .underAnotherName: MarkingSealing()
            }
        }
    }

    @Test(arguments: places, Reader.allCases)
    func whoeverCannotOpenThemIsToldSoAndOverwritesNothing(place: Place, reader: Reader) async throws {
        // A shared store finds nothing under another name; its rows are swapped below.
        if place.testDescription == "shared", reader == .underAnotherName { return }
        let place = place.make()
        let stored = try await place.store("alice", MarkingSealing()).update { $0 = Self.sample }
        let text = await place.text()
        let store = place.store(reader.identity, reader.sealing)
        let error = await #expect(throws: Credentials.StoreError.self) { try await store.read() }
        let description = try #require(error?.description)
        #expect(description.contains("sealed"))
        #expect(description.contains("key"), "it says what to do")
        #expect(!description.contains("s3cret"))
        await #expect(throws: Credentials.StoreError.self) { try await store.update { $0.accessToken = "new" } }
        await #expect(throws: Credentials.StoreError.self) {
            try await store.replace(version: stored.version, with: Credentials(accessToken: "new"))
        }
        // A store that holds something never holds version 0.
        let overwritten = try? await store.replace(version: 0, with: Credentials(accessToken: "new"))
        #expect(overwritten?.version == nil)
        #expect(await place.text() == text)
    }

    @Test func aRowMovedToAnotherIdentityIsRefused() async throws {
        let state = SharedState(InMemoryRecoveryStore())
        let alice = SharedTokenStore(state, name: "alice", sealing: MarkingSealing())
        let bob = SharedTokenStore(state, name: "bob", sealing: MarkingSealing())
        try await alice.update { $0 = Self.sample }
        let mine = try await bob.update { $0.accessToken = "other" }
        let row = try #require(try await state.record("credentials:alice"))
        _ = try await state.replaceRecord("credentials:bob", version: mine.version, with: row.bytes)
        await #expect(throws: Credentials.StoreError.self) { try await bob.read() }
        #expect(try await alice.read().credentials == Self.sample)
    }

    @Test(
        arguments: places,
        [
            "{\"sealed\":1}", "{\"sealed\":null}", "{\"sealed\":\"?\"}", "{\"sealed\":\"\"}", "{\"sealed\":\"azE=\"}",
            "{\"sealed\":\"\",\"access_token\":\"new\"}",
        ]
    )
    func aSealedFormThatIsNoneIsAClearError(place: Place, text: String) async throws {
        let place = place.make()
        await place.write(text)
        for sealing in [nil, MarkingSealing()] {
            let store = place.store("alice", sealing)
            let error = await #expect(throws: Credentials.StoreError.self) { try await store.read() }
            #expect(error?.description.contains("sealed") == true)
            await #expect(throws: Credentials.StoreError.self) { try await store.update { $0.accessToken = "a" } }
        }
        #expect(await place.text() == text)
    }

    @Test(arguments: places) func whatCannotBeSealedIsNotStored(place: Place) async throws {
        let place = place.make()
        let store = place.store("alice", MarkingSealing(failure: TalkativeError()))
        let error = await #expect(throws: Credentials.StoreError.self) { try await store.update { $0 = Self.sample } }
        #expect(error?.description.contains("TalkativeError") == true)
        #expect(error?.description.contains("s3cret") == false)
        #expect(await place.text() == nil)
    }

    @Test func sealedCredentialsAreNoPlainOnesElsewhereEither() {
        #expect(throws: Credentials.StoreError.self) { try Credentials(json: ["sealed": "AQ=="]) }
    }
}
