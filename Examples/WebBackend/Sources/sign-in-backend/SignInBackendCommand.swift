import ArgumentParser
import AuthCryptography
import CurlTransport
import Foundation
import HTTPRecovery
import Hummingbird
import RedisRecoveryStore
import SQLiteRecoveryStore
import ServiceLifecycle
import SignInBackend
import Synchronization
import UnixSignals

/// A small web backend that signs browsers in through Clerk.
@main
struct SignInBackendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in-backend",
        abstract: "Signs browsers in through Clerk, one request for each answer.",
        discussion: """
            Any number of instances may run behind one store: a sign-in that was begun at one goes on at another. The \
            environment variable SIGN_IN_KEY holds the key that seals what is stored, 32 bytes in Base64.

            EXIT. 0 after a signal, 1 if it ends by itself, 64 for bad usage (an option that is missing, or is not what it \
            should be), 69 if it cannot listen, 78 if SIGN_IN_KEY is missing or is no such key.
            """
    )

    @Option(help: "The address to listen on, such as 0.0.0.0:8080 or [::1]:8080.")
    var listen = "127.0.0.1:8080"

    @Option(help: "The URL of Clerk's Frontend API.")
    var frontendAPI: String

    @Option(help: "What the instances share: a SQLite file, or a redis:// URL.")
    var state: String

    @Option(help: "Where browsers find it, such as https://app.example.com; needed to sign in at other providers.")
    var publicURL: String?

    @Flag(help: "Send cookies over plain HTTP too, as on a developer's machine.")
    var insecureCookies = false

    func run() async throws {
        let (host, port) = try address()
        let store = try Self.checked("--state") { try makeStore() }
        if let publicURL { _ = try Self.checked("--public-url") { try Origin(url: publicURL) } }
        let key: SealingKey
        do {
            key = try SealingKey(environment: "SIGN_IN_KEY")
        } catch {
            complain("\(error)")
            throw ExitCode(78)
        }
        let runtime = Runtime(store: store, storeTimeout: Self.storeTimeout)
        let client = RecoveringClient(transport: CurlTransport(), runtime: runtime)
        runtime.events.observe { event in
            switch event.kind {
            case .store(.degraded(let store, let reason)): complain("the store \(store) fails: \(reason)")
            case .store(.available): complain("the store answers again")
            default: break
            }
        }
        let signIns = try Self.checked("--frontend-api") {
            try BrowserSignIns(frontendAPI: frontendAPI, client: client, key: key, publicURL: publicURL)
        }
        // An address of IPv6 stands in brackets before a port.
        let written = host.contains(":") ? "[\(host)]" : host
        let isListening = Mutex(false)
        let backend = Application(
            router: signIns.router(isSecure: !insecureCookies),
            server: .http1(configuration: .init(idleTimeout: .seconds(30))),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in
                isListening.withLock { $0 = true }
                let line = "listening on http://\(written):\(channel.localAddress?.port ?? port)\n"
                // At once, also where a pipe reads it.
                FileHandle.standardOutput.write(Data(line.utf8))
            }
        )
        var group = ServiceGroupConfiguration(
            services: [backend],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: backend.logger
        )
        // A browser that does not go away holds the server no longer than an answer may take: whoever supervises it
        // kills it soon, and the state is to be written before.
        group.maximumGracefulShutdownDuration = .seconds(20)
        let end: Result<Void, any Error>
        do {
            end = .success(try await ServiceGroup(configuration: group).run())
        } catch {
            end = .failure(error)
        }
        await client.shutdown()
        // What a sign-in has come to is written, whatever ended the server.
        await runtime.state.shutdown()
        do {
            try end.get()
        } catch {
            guard !isListening.withLock({ $0 }) else { throw error }
            complain("cannot listen on \(listen): \(error)")
            throw ExitCode(69)
        }
    }

    private func address() throws(ValidationError) -> (host: String, port: Int) {
        let invalid = ValidationError("--listen: \(listen) is no address such as 127.0.0.1:8080 or [::1]:8080")
        guard let colon = listen.lastIndex(of: ":"), let port = UInt16(listen[listen.index(after: colon)...]) else {
            throw invalid
        }
        var host = listen[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw invalid }
        return (String(host), Int(port))
    }

    /// What an option says; who finds something wrong with it does not know the option.
    private static func checked<Value>(_ option: String, _ read: () throws -> Value) throws(ValidationError) -> Value {
        do {
            return try read()
        } catch {
            throw ValidationError("\(option): \(error)")
        }
    }

    private func complain(_ text: String) {
        FileHandle.standardError.write(Data("sign-in-backend: \(text)\n".utf8))
    }

    private func makeStore() throws -> any RecoveryStore {
        guard !state.isEmpty else { throw ValidationError("is empty; name a file of SQLite or a redis:// URL") }
        guard state.contains("://") else { return SQLiteStore(path: state) }
        var redis = try RedisStore.Configuration(url: state)
        // A little sooner than nobody waits for it any more: then it says itself what is wrong.
        redis.commandTimeout = Self.storeTimeout - .milliseconds(50)
        return try RedisStore(configuration: redis)
    }

    /// How long the store is waited for: all that a sign-in has come to is there, so a slow answer is better than none.
    private static let storeTimeout: Duration = .seconds(5)
}
