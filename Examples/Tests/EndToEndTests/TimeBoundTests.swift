import HTTPRecoveryTesting
import Testing

/// A limit of time that ends a call is named, and no other.
@Suite("http-recover limits of time", .timeLimit(.minutes(30)), .bounded)
struct TimeBoundTests {
    @Test(arguments: [
        ("--attempt-timeout 0.3 --no-recovery http://HOST/hang", "--attempt-timeout sets how long an attempt"),
        ("--attempt-timeout 0.3 --max-attempts 2 --backoff 0,0 http://HOST/begun", "--attempt-timeout sets how long"),
        ("--idle-timeout 0.3 --no-recovery http://HOST/hang", "--idle-timeout sets how long an attempt may stand"),
        ("--idle-timeout 0.3 --no-recovery http://HOST/begun", "--idle-timeout sets how long an attempt may stand"),
        ("--deadline 0.3 --no-recovery http://HOST/hang", "--deadline sets how long a request may take"),
        ("--deadline 0.3 --attempt-timeout 20 http://HOST/begun", "--deadline sets how long a request may take"),
        // The server takes the connection and says nothing of TLS.
        ("--connect-timeout 0.3 --no-recovery https://HOST/", "--connect-timeout sets how long a connection may take"),
        ("--connect-timeout 0.3 --transport ahc --no-recovery https://HOST/", "--connect-timeout sets how long"),
        ("--deadline 0.3 --no-recovery https://HOST/", "--deadline sets how long a request may take"),
    ])
    func theLimitThatEndedItIsNamed(line: String, advice: String) async throws {
        let server = try FaultServer { CurlHabit.reply($0) }
        let words = line.replacing("HOST", with: server.authority).split(separator: " ").map(String.init)
        let end = try await BuiltProgram.run("http-recover", words)
        #expect(end.status == 28, "\(end.errors)")
        let told = end.errors.split(separator: "\n").filter { $0.contains(" sets ") }
        #expect(told.count == 1 && told[0].contains(advice), "\(end.errors)")
    }
}
