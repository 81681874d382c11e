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

@Suite struct FileTokenStoreTests {
    private let directory = TemporaryDirectory()
    private var path: String { directory.file("tokens.json") }

    @Test func whatIsStoredIsRead() async throws {
        let store = FileTokenStore(path: path)
        #expect(try await store.read().credentials == Credentials())
        let stored = try await store.update { $0.accessToken = "a" }
        #expect(try await store.read() == stored)
        #expect(TemporaryDirectory.read(path) == "{\"access_token\":\"a\"}\n")
        #expect(try await FileTokenStore(path: path).read() == stored)
    }

    @Test func onlyTheOwnerCanReadIt() async throws {
        try await FileTokenStore(path: path).update { $0.accessToken = "a" }
        #expect(TemporaryDirectory.permissions(of: path) == 0o600)
        #expect(TemporaryDirectory.permissions(of: path + ".lock") == 0o600)
    }

    @Test func aFileThatOthersCouldReadIsTightenedWhenItIsReplaced() async throws {
        TemporaryDirectory.write("{\"x\":1}", to: path, mode: 0o644)
        try await FileTokenStore(path: path).update { $0.accessToken = "a" }
        #expect(TemporaryDirectory.permissions(of: path) == 0o600)
        #expect(TemporaryDirectory.read(path) == "{\"access_token\":\"a\",\"x\":1}\n")
    }

    @Test func missingDirectoriesAreMadeForTheOwnerAlone() async throws {
        let deep = directory.file("a/b/tokens.json")
        #expect(try await FileTokenStore(path: deep).read().credentials == Credentials())
        #expect(directory.names.isEmpty, "reading makes nothing")
        try await FileTokenStore(path: deep).update { $0.accessToken = "a" }
        #expect(TemporaryDirectory.permissions(of: directory.file("a")) == 0o700)
        #expect(TemporaryDirectory.permissions(of: directory.file("a/b")) == 0o700)
    }

    @Test(arguments: [true, false])
    func aLinkKeepsPointingAtWhatIsReplaced(exists: Bool) async throws {
        let target = directory.file("target.json")
        if exists { TemporaryDirectory.write("{\"x\":1}", to: target) }
        unsafe symlink("target.json", path)
        try await FileTokenStore(path: path).update { $0.accessToken = "a" }
        #expect(TemporaryDirectory.mode(of: path) & S_IFMT == S_IFLNK)
        #expect(TemporaryDirectory.mode(of: target) & S_IFMT == S_IFREG)
        #expect(try await FileTokenStore(path: target).read().credentials.accessToken == "a")
    }

    @Test func aLinkInACircleIsAClearError() async throws {
        unsafe symlink("tokens.json", path)
        await #expect(throws: Credentials.StoreError.self) { try await FileTokenStore(path: path).read() }
        await #expect(throws: (any Error).self) {
            try await FileTokenStore(path: path).replace(version: 0, with: Credentials())
        }
    }

    @Test(arguments: ["", " \n\t\r\n"])
    func anEmptyFileHoldsNothing(text: String) async throws {
        TemporaryDirectory.write(text, to: path)
        let store = FileTokenStore(path: path)
        #expect(try await store.read().credentials == Credentials())
        try await store.update { $0.accessToken = "a" }
        #expect(try await store.read().credentials.accessToken == "a")
    }

    @Test(arguments: [
        "{\"access_token\":\"s3cret", "[\"s3cret\"]", "s3cret", "{}s3cret", "\u{FEFF}s3cret", "\0\0\0\0", "null",
    ])
    func aFileThatCannotBeReadIsAClearErrorAndIsLeftAlone(text: String) async throws {
        TemporaryDirectory.write(text, to: path)
        let store = FileTokenStore(path: path)
        let error = await #expect(throws: Credentials.StoreError.self) {
            try await store.update { $0.accessToken = "a" }
        }
        #expect(error?.description.contains(path) == true)
        #expect(error?.description.contains("Moving it away starts afresh") == true)
        #expect(error?.description.contains("s3cret") == false)
        await #expect(throws: Credentials.StoreError.self) {
            try await store.replace(version: 0, with: Credentials(accessToken: "a"))
        }
        #expect(TemporaryDirectory.read(path) == text)
    }

    @Test func aFileThatIsFarTooLargeIsNotRead() async throws {
        TemporaryDirectory.write(String(repeating: " ", count: (1 << 20) + 1), to: path)
        let error = await #expect(throws: Credentials.StoreError.self) { try await FileTokenStore(path: path).read() }
        #expect(error?.description.contains("larger") == true)
    }

    @Test func aDirectoryInItsPlaceIsAClearError() async throws {
        unsafe mkdir(path, 0o700)
        await #expect(throws: Credentials.StoreError.self) { try await FileTokenStore(path: path).read() }
    }

    @Test func anOlderVersionStoresNothing() async throws {
        let store = FileTokenStore(path: path)
        let first = try #require(try await store.replace(version: 0, with: Credentials(accessToken: "a")))
        #expect(try await store.replace(version: 0, with: Credentials(accessToken: "b")) == nil)
        let second = try #require(try await store.replace(version: first.version, with: Credentials(accessToken: "c")))
        #expect(try await store.replace(version: first.version, with: Credentials(accessToken: "d")) == nil)
        #expect(try await store.read() == second)
    }

    @Test func twoStoresOnOneFileNoticeEachOthersChanges() async throws {
        let (one, other) = (FileTokenStore(path: path), FileTokenStore(path: path))
        let before = try await one.read()
        try await other.update { $0.accessToken = "b" }
        #expect(try await one.replace(version: before.version, with: Credentials(accessToken: "a")) == nil)
        #expect(try await one.read().credentials.accessToken == "b")
    }

    @Test func manyConcurrentChangesLoseNothing() async throws {
        let path = path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in 0..<4 {
                let store = (store, FileTokenStore(path: path))
                for change in 0..<10 {
                    group.addTask {
                        let member = JSONValue.Member("\(store.0)-\(change)", 1)
                        try await store.1.update { $0.others.append(member) }
                    }
                }
            }
            try await group.waitForAll()
        }
        let keys = try await FileTokenStore(path: path).read().credentials.others.map(\.key)
        #expect(Set(keys).count == 40)
        #expect(keys.count == 40)
    }

    @Test func whatACrashHasLeftBehindDoesNoHarmAndGoes() async throws {
        try await FileTokenStore(path: path).update { $0.accessToken = "old" }
        TemporaryDirectory.write("{\"access_token\":\"ha", to: path + ".tmp", mode: 0o644)
        TemporaryDirectory.write("", to: path + ".lock", mode: 0o600)
        let store = FileTokenStore(path: path)
        #expect(try await store.read().credentials.accessToken == "old")
        try await store.update { $0.accessToken = "new" }
        #expect(try await store.read().credentials.accessToken == "new")
        #expect(directory.names == ["tokens.json", "tokens.json.lock"])
        #expect(TemporaryDirectory.permissions(of: path) == 0o600)
    }

    @Test func aLinkThatSomebodyPutInPlaceOfTheTemporaryFileIsNotFollowed() async throws {
        let victim = directory.file("victim")
        TemporaryDirectory.write("precious", to: victim)
        unsafe symlink("victim", path + ".tmp")
        try await FileTokenStore(path: path).update { $0.accessToken = "a" }
        #expect(TemporaryDirectory.read(victim) == "precious")
        #expect(TemporaryDirectory.mode(of: path) & S_IFMT == S_IFREG)
    }

    @Test func aDirectoryThatCannotBeWrittenIsAClearErrorAndKeepsTheFile() async throws {
        guard geteuid() != 0 else { return }
        try await FileTokenStore(path: path).update { $0.accessToken = "old" }
        unsafe chmod(directory.path, 0o500)
        defer { unsafe chmod(directory.path, 0o700) }
        await #expect(throws: Credentials.StoreError.self) {
            try await FileTokenStore(path: path).update { $0.accessToken = "new" }
        }
        #expect(try await FileTokenStore(path: path).read().credentials.accessToken == "old")
    }

    @Test func aLockThatSomebodyKeepsDoesNotHoldTheCallerAgainstItsWill() async throws {
        let descriptor = unsafe open(path + ".lock", O_RDWR | O_CREAT, 0o600)
        #expect(flock(descriptor, LOCK_EX) == 0)
        defer { close(descriptor) }
        let store = FileTokenStore(path: path)
        let task = Task { try await store.update { $0.accessToken = "a" } }
        #expect(try await store.read().credentials == Credentials(), "reading needs no lock")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        flock(descriptor, LOCK_UN)
        try await store.update { $0.accessToken = "b" }
        #expect(try await store.read().credentials.accessToken == "b")
    }
}
