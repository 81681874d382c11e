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

@Suite struct FileTokenStoreCrashTests {
    /// A process that writes without an end is killed at a moment of its own choice, several times.
    @Test(.timeLimit(.minutes(30)), arguments: 1...6)
    func aProcessThatIsKilledWhileItWritesLeavesTheOldOrTheNewCredentials(round: Int) async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        // Large, so that writing takes long enough to be hit in the middle.
        let padding = String(repeating: "x", count: 200_000)
        try await FileTokenStore(path: path).update {
            $0.others = [JSONValue.Member("padding", .string(padding))]
            $0.accessToken = "0"
            $0.refreshToken = "0"
        }
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
            let store = FileTokenStore(path: path)
            let killer = Task.detached {
                try await Task.sleep(for: .microseconds(20_000 + round * 3_137))
                kill(getpid(), SIGKILL)
            }
            for number in 1... {
                let token = Secret("\(number)")
                try await store.update {
                    $0.accessToken = token
                    $0.refreshToken = token
                }
            }
            try await killer.value
        }
        let left = try await FileTokenStore(path: path).read().credentials
        #expect(left.accessToken != nil)
        #expect(left.accessToken == left.refreshToken, "never half of one")
        #expect(left.others == [JSONValue.Member("padding", .string(padding))])
        // The lock of the dead process is gone with it, and so is what it left, after the next change.
        try await FileTokenStore(path: path).update { $0.accessToken = "after" }
        #expect(directory.names == ["tokens.json", "tokens.json.lock"])
    }
}
