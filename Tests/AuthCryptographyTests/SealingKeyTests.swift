#if Cryptography
import AuthCryptography
import AuthRecovery
import HTTPRecovery
import ProcessSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct SealingKeyTests {
    private let directory = TemporaryDirectory()
    private let bytes = [UInt8](0..<32)
    private let hexadecimal = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    private let base64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    @Test func bytesAndTextAreTheSameKey() throws {
        let key = try SealingKey(bytes: bytes)
        #expect(key.text.reveal() == base64)
        for text in [base64, hexadecimal, hexadecimal.uppercased(), " \(base64)\n", String(base64.dropLast())] {
            let same = try SealingKey(text: Secret(text))
            #expect(same.text == key.text)
            #expect(same.id == key.id)
        }
    }

    @Test func theNameIsTheKeysOwnUnlessGiven() throws {
        let key = try SealingKey(bytes: bytes)
        #expect(key.id.utf8.count == 8)
        #expect(try SealingKey(bytes: bytes.reversed()).id != key.id)
        #expect(try SealingKey(bytes: bytes, id: "2030").id == "2030")
        for id in ["", String(repeating: "x", count: 256)] {
            #expect(throws: Credentials.SealingError.self) { try SealingKey(bytes: bytes, id: id) }
        }
    }

    @Test func generatedKeysDiffer() throws {
        let (one, other) = (SealingKey.generate(), SealingKey.generate())
        #expect(one.text != other.text)
        #expect(one.id != other.id)
        #expect(try SealingKey(text: one.text).id == one.id)
    }

    @Test(arguments: [
        "", "secret", "correct horse battery staple long",
        "zz0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "AAECAwQFBgcICQoLDA0ODw==",
    ])
    func textThatIsNoKeyIsRefusedWithoutBeingShown(text: String) {
        let error = #expect(throws: Credentials.SealingError.self) { try SealingKey(text: Secret(text)) }
        #expect(error?.code == .unusableKey)
        if !text.isEmpty { #expect(error?.description.contains(text) == false) }
    }

    @Test(arguments: [0, 16, 31, 33, 64])
    func anotherLengthIsRefused(count: Int) {
        #expect(throws: Credentials.SealingError.self) { try SealingKey(bytes: [UInt8](repeating: 7, count: count)) }
    }

    @Test func aTextOf32DigitsIsNotTakenForBytes() {
        #expect(throws: Credentials.SealingError.self) {
            try SealingKey(bytes: Array("0123456789abcdef0123456789abcdef".utf8))
        }
    }

    @Test func itIsReadFromAFile() throws {
        for content in [bytes, Array(base64.utf8), Array("\(hexadecimal)\n".utf8)] {
            TemporaryDirectory.write(content, to: directory.file("key"), mode: 0o400)
            #expect(try SealingKey(file: directory.file("key")).text.reveal() == base64)
            unsafe unlink(directory.file("key"))
        }
        TemporaryDirectory.write(bytes, to: directory.file("key"))
        unsafe symlink("key", directory.file("link"))
        #expect(try SealingKey(file: directory.file("link")).text.reveal() == base64)
    }

    @Test(arguments: [0o640, 0o604, 0o610, 0o666, 0o644] as [mode_t])
    func aFileThatOthersCanReachIsRefused(mode: mode_t) {
        TemporaryDirectory.write(bytes, to: directory.file("key"), mode: mode)
        let error = #expect(throws: Credentials.SealingError.self) { try SealingKey(file: directory.file("key")) }
        #expect(error?.code == .unusableKey)
        #expect(error?.description.contains("0600") == true)
        #expect(error?.description.contains(directory.file("key")) == true)
    }

    @Test func whatIsNoKeyFileIsRefused() {
        #expect(throws: Credentials.SealingError.self) { try SealingKey(file: directory.file("key")) }
        #expect(throws: Credentials.SealingError.self) { try SealingKey(file: directory.path) }
        unsafe mkfifo(directory.file("pipe"), 0o600)
        #expect(throws: Credentials.SealingError.self, "and does not hang") {
            try SealingKey(file: directory.file("pipe"))
        }
        for content in [[], Array("s3cret".utf8), [UInt8](repeating: 1, count: 70_000)] {
            TemporaryDirectory.write(content, to: directory.file("key"))
            let error = #expect(throws: Credentials.SealingError.self) { try SealingKey(file: directory.file("key")) }
            #expect(error?.description.contains("s3cret") == false)
        }
    }

    // In a process of its own: another thread may read the environment at any time, and it must not change then.
    @Test func itIsReadFromTheEnvironment() async {
        await #expect(processExitsWith: .success) { [base64 = base64 as String] in
            let name = "HTTP_RECOVERY_TEST_SEALING_KEY"
            let error = #expect(throws: Credentials.SealingError.self) { try SealingKey(environment: name) }
            #expect(error?.description.contains(name) == true)
            unsafe setenv(name, base64, 1)
            let key = try SealingKey(environment: name)
            #expect(key.text.reveal() == base64)
            unsafe setenv(name, "s3cret", 1)
            let wrong = #expect(throws: Credentials.SealingError.self) { try SealingKey(environment: name) }
            #expect(wrong?.description.contains("s3cret") == false)
            #expect(wrong?.description.contains(name) == true)
        }
    }

    @Test func itCannotBePrinted() throws {
        let key = try SealingKey(bytes: bytes, id: "k1")
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "SealingKey(k1)")
        #expect(!dumped.contains("key:"))
        #expect(Mirror(reflecting: key).children.isEmpty)
    }
}
#endif
