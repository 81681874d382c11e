import ArgumentParser
import AuthCryptography
import CurlTransport
import Foundation
import HTTPRecovery
import Hummingbird
import RedisRecoveryStore
import SQLiteRecoveryStore
import SignInBackend

/// A small web backend that signs browsers in through Clerk.
@main
struct SignInBackendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in-backend",
        abstract: "Signs browsers in through Clerk, one request for each answer.",
        discussion: """
            Any number of instances may run behind one store: a sign-in that was begun at one goes on at another. The \
            environment variable SIGN_IN_KEY holds the key that seals what is stored, 32 bytes in Base64.
            """
    )

    @Option(help: "The address to listen on.")
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
        guard let colon = listen.lastIndex(of: ":"), let port = Int(listen[listen.index(after: colon)...]) else {
            throw ValidationError("--listen: \(listen) is no address such as 127.0.0.1:8080")
        }
        // All that a sign-in has come to is in the store: a slow answer of it is better than none.
        let runtime = Runtime(store: try store(), storeTimeout: .seconds(5))
        let client = RecoveringClient(transport: CurlTransport(), runtime: runtime)
        let signIns = try BrowserSignIns(
            frontendAPI: frontendAPI,
            client: client,
            key: try SealingKey(environment: "SIGN_IN_KEY"),
            publicURL: publicURL
        )
        let host = String(listen[..<colon])
        let backend = Application(
            router: signIns.router(isSecure: !insecureCookies),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in
                let line = "listening on http://\(host):\(channel.localAddress?.port ?? port)\n"
                // At once, also where a pipe reads it.
                FileHandle.standardOutput.write(Data(line.utf8))
            }
        )
        try await backend.runService()
        await client.shutdown()
    }

    private func store() throws -> any RecoveryStore {
        guard state.contains("://") else { return SQLiteStore(path: state) }
        return try RedisStore(configuration: RedisStore.Configuration(url: state))
    }
}
