public import HTTPRecovery
import RedisRecoveryStore
import SQLiteRecoveryStore

/// Where limits, lockouts, budgets and leases are remembered: `memory`, `sqlite:PATH` or `redis://HOST:PORT`.
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
        guard text.hasPrefix("redis://") || text.hasPrefix("rediss://") else {
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
    /// - Throws: `StoreError` when a file cannot be opened. A server that cannot be reached is none: the program goes
    ///   by its own memory until it can.
    public func open() throws -> any RecoveryStore {
        switch place {
        case .memory: InMemoryRecoveryStore()
        case .sqlite(let path): SQLiteStore(path: path)
        case .redis(let configuration): try RedisStore(configuration: configuration)
        }
    }
}
