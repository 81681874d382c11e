#if Cryptography
import AuthCryptography
import AuthRecovery
import Crypto
import HTTPRecovery
import HTTPRecoveryTesting
import ProcessSupport
import Testing

@Suite struct AESGCMSealingTests {
    private let one = SealingKey.generate()
    private let other = SealingKey.generate()
    private let plaintext = Array("{\"access_token\":\"s3cret\"}".utf8)

    @Test(arguments: [0, 1, 15, 16, 17, 4096])
    func whatIsSealedIsOpened(count: Int) throws {
        let sealing = AESGCMSealing(one)
        let plaintext = [UInt8](repeating: 0xA5, count: count)
        let sealed = try sealing.seal(plaintext, at: "credentials:alice")
        #expect(try sealing.open(sealed, at: "credentials:alice") == plaintext)
        #expect(sealed.count == 2 + one.id.utf8.count + 12 + count + 16)
    }

    /// The format, opened by hand, so that nobody changes it unnoticed.
    @Test func theFormatIsAsDocumented() throws {
        let key = try SealingKey(bytes: [UInt8](0..<32), id: "k1")
        let sealed = try AESGCMSealing(key).seal(plaintext, at: "credentials:alice")
        #expect(Array(sealed.prefix(4)) == [1, 2] + Array("k1".utf8))
        let box = try AES.GCM.SealedBox(combined: sealed.dropFirst(4))
        let data = [1, 2] + Array("k1credentials:alice".utf8)
        let opened = try AES.GCM.open(box, using: SymmetricKey(data: [UInt8](0..<32)), authenticating: data)
        #expect(Array(opened) == plaintext)
    }

    @Test func noTwoSealingsAreAlike() throws {
        let sealing = AESGCMSealing(one)
        let nonces = try (0..<1000).map { _ in
            Array(try sealing.seal(plaintext, at: "p").dropFirst(2 + one.id.utf8.count).prefix(12))
        }
        #expect(Set(nonces).count == 1000)
    }

    @Test func aChangeOfAnyByteIsNoticed() throws {
        let sealing = AESGCMSealing(one, older: [other])
        let sealed = try sealing.seal(plaintext, at: "p")
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << UInt8(bit)
                #expect(throws: Credentials.SealingError.self, "byte \(index), bit \(bit)") {
                    try sealing.open(changed, at: "p")
                }
            }
        }
    }

    @Test func everyCutAndEveryAdditionIsNoticed() throws {
        let sealing = AESGCMSealing(one)
        let sealed = try sealing.seal(plaintext, at: "p")
        for count in 0..<sealed.count {
            #expect(throws: Credentials.SealingError.self, "\(count) bytes") {
                try sealing.open(Array(sealed.prefix(count)), at: "p")
            }
            #expect(throws: Credentials.SealingError.self, "the last \(count)") {
                try sealing.open(Array(sealed.suffix(count)), at: "p")
            }
        }
        #expect(throws: Credentials.SealingError.self) { try sealing.open(sealed + [0], at: "p") }
    }

    @Test func anotherKeyAnotherPlaceAndAnotherFormatAreToldApart() throws {
        let sealed = try AESGCMSealing(one).seal(plaintext, at: "credentials:alice")
        let namesake = try SealingKey(text: other.text, id: one.id)
        let cases: [(AESGCMSealing, String, [UInt8], Credentials.SealingError.Code)] = [
            (AESGCMSealing(other), "credentials:alice", sealed, .unknownKey),
            (AESGCMSealing(namesake), "credentials:alice", sealed, .notAuthentic),
            (AESGCMSealing(one), "credentials:bob", sealed, .notAuthentic),
            (AESGCMSealing(one), "credentials:alice", [2] + sealed.dropFirst(), .malformed),
            (AESGCMSealing(one), "credentials:alice", [], .malformed),
        ]
        for (sealing, place, bytes, code) in cases {
            let error = #expect(throws: Credentials.SealingError.self) { try sealing.open(bytes, at: place) }
            #expect(error?.code == code)
        }
    }

    @Test func keysAreRotatedWithoutAMomentAtWhichNothingCanBeRead() throws {
        let before = AESGCMSealing(one)
        let meanwhile = AESGCMSealing(one, older: [other])
        let after = AESGCMSealing(other, older: [one])
        let atLast = AESGCMSealing(other)
        let old = try before.seal(plaintext, at: "p")
        for sealing in [before, meanwhile, after] { #expect(try sealing.open(old, at: "p") == plaintext) }
        #expect(throws: Credentials.SealingError.self) { try atLast.open(old, at: "p") }
        let new = try after.seal(plaintext, at: "p")
        for sealing in [meanwhile, after, atLast] { #expect(try sealing.open(new, at: "p") == plaintext) }
        #expect(throws: Credentials.SealingError.self) { try before.open(new, at: "p") }
    }

    @Test func keysOfOneNameAreAllTried() throws {
        let (old, new) = try (SealingKey(text: one.text, id: "k"), SealingKey(text: other.text, id: "k"))
        let sealed = try AESGCMSealing(old).seal(plaintext, at: "p")
        #expect(try AESGCMSealing(new, older: [old]).open(sealed, at: "p") == plaintext)
    }

    @Test func mutatedBytesNeverTrap() throws {
        let sealing = AESGCMSealing(one)
        let mutator = ByteMutator(seed: 1)
        let sealed = try sealing.seal(plaintext, at: "p")
        for _ in 0..<2000 {
            let mutated = mutator.mutate(sealed)
            if mutated != sealed {
                #expect(throws: Credentials.SealingError.self) { try sealing.open(mutated, at: "p") }
            }
        }
    }

    @Test func aFileIsSealedAndItsKeyRotated() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        let credentials = Credentials(accessToken: "s3cret", refreshToken: "r3fresh")
        try await FileTokenStore(path: path, identity: "alice", sealing: AESGCMSealing(one)).update { $0 = credentials }
        let text = TemporaryDirectory.read(path) ?? ""
        for word in ["s3cret", "r3fresh", "access_token"] { #expect(!text.contains(word)) }

        let rotated = FileTokenStore(path: path, identity: "alice", sealing: AESGCMSealing(other, older: [one]))
        let present = try await rotated.read()
        #expect(present.credentials == credentials)
        _ = try #require(try await rotated.replace(version: present.version, with: present.credentials))
        let withNew = FileTokenStore(path: path, identity: "alice", sealing: AESGCMSealing(other))
        #expect(try await withNew.read().credentials == credentials)
        let withOld = FileTokenStore(path: path, identity: "alice", sealing: AESGCMSealing(one))
        let error = await #expect(throws: Credentials.StoreError.self) { try await withOld.read() }
        #expect(error?.description.contains("another key") == true)
    }

    @Test func aRowMovedToAnotherIdentityIsRefused() async throws {
        let state = SharedState(InMemoryRecoveryStore())
        let sealing = AESGCMSealing(one)
        let alice = SharedTokenStore(state, name: "alice", sealing: sealing)
        let bob = SharedTokenStore(state, name: "bob", sealing: sealing)
        try await alice.update { $0.accessToken = "hers" }
        let his = try await bob.update { $0.accessToken = "his" }
        let row = try #require(try await state.record("credentials:alice"))
        _ = try await state.replaceRecord("credentials:bob", version: his.version, with: row.bytes)
        await #expect(throws: Credentials.StoreError.self) { try await bob.read() }
        #expect(try await alice.read().credentials.accessToken == "hers")
    }
}
#endif
