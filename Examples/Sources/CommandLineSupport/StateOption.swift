public import ArgumentParser
public import HTTPRecovery
import RedisRecoveryStore
import SQLiteRecoveryStore

/// Where limits, lockouts, budgets and leases are remembered: `memory`, `sqlite:PATH`, or a URL of Redis as
/// `RedisStore.Configuration.init(url:)` reads it.
public struct StateOption: Sendable {
    private enum Place: Sendable {
        case memory
        case sqlite(path: String)
        case redis(RedisStore.Configuration)
    }

    private let place: Place

    /// This process alone.
    public static let memory = StateOption(place: .memory)

    private init(place: Place) {
        self.place = place
    }

    /// Reads the option's value.
    public static func parse(_ text: String) throws(InvalidOption) -> StateOption {
        if text == "memory" { return .memory }
        if text.hasPrefix("sqlite:") {
            let path = text.dropFirst("sqlite:".count)
            guard !path.isEmpty else { throw InvalidOption("write the file's path behind sqlite:") }
            return StateOption(place: .sqlite(path: String(path)))
        }
        // Whatever the store can be led to by a URL: one server, a cluster, Sentinels.
        guard text.hasPrefix("redis"), text.contains("://") else {
            throw InvalidOption("write memory, sqlite:PATH, or redis://HOST:PORT")
        }
        do {
            return StateOption(place: .redis(try RedisStore.Configuration(url: text)))
        } catch {
            // The URL may hold a password, so it is not repeated.
            throw InvalidOption("\(error)")
        }
    }

    /// Opens the store.
    ///
    /// - Throws: ``FileError`` for a directory that is not there, `SharedState.StoreError` when a file cannot be opened.
    ///   A server that cannot be reached is none: the program goes
    ///   by its own memory until it can.
    public func open() throws -> any RecoveryStore {
        switch place {
        case .memory: return InMemoryRecoveryStore()
        case .sqlite(let path):
            // A directory that is not there is a slip of the pen, and not to be made.
            try Directories.check(above: path)
            return SQLiteStore(path: path)
        case .redis(let configuration): return try RedisStore(configuration: configuration)
        }
    }
}

/// The options that say where is remembered.
public struct StateOptions: ParsableArguments, Sendable {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Where limits, lockouts and budgets are remembered: in this process, for all processes of this machine, or \
            for all machines that share a Redis or Valkey. Default: memory.
            """,
            valueName: "memory|sqlite:PATH|redis://HOST:PORT"
        ),
        completion: .list(["memory", "sqlite:", "redis://"])
    )
    // Not parsed with the other options: what is wrong there is repeated, and a URL may hold a password.
    var state: String?

    @Option(
        name: .customLong("state-env"),
        help: ArgumentHelp(
            "The environment variable with what --state would say: for a URL with a password in it.",
            valueName: "NAME"
        )
    )
    var variable: String?

    /// Creates the options.
    public init() {}

    /// Checks what is given.
    public func validate() throws {
        do {
            _ = try place()
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// Where is remembered.
    public func place() throws(InvalidOption) -> StateOption {
        guard variable == nil || state == nil else {
            throw InvalidOption("--state-env and --state contradict each other")
        }
        let named = try variable.map { name throws(InvalidOption) in try Environment.text(name, for: "--state-env") }
        guard let text = named ?? state else { return .memory }
        do {
            return try StateOption.parse(text)
        } catch {
            throw InvalidOption("\(variable == nil ? "--state" : "--state-env"): \(error)")
        }
    }
}
