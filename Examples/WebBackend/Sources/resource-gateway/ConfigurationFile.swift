import Configuration
import Logging
import ServiceLifecycle
import SystemPackage

/// The file of `--config`, which is read again when it has changed.
///
/// Its provider keeps what it has read if it cannot read the file any more, and says so to nobody who has not asked for its
/// debugging log. So the file is looked at beside it.
struct ConfigurationFile: Service {
    let provider: ReloadingFileProvider<JSONSnapshot>
    private let path: FilePath
    private let interval: Duration
    private let logger: Logger

    init(_ path: FilePath, lookedAtEvery interval: Duration, logger: Logger) async throws {
        provider = try await ReloadingFileProvider<JSONSnapshot>(filePath: path, pollInterval: interval)
        (self.path, self.interval, self.logger) = (path, interval, logger)
    }

    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await provider.run() }
            group.addTask { try? await cancelWhenGracefulShutdown { try await watch() } }
        }
    }

    /// Tells once of each reason for which the file cannot be read, and when it can be again.
    private func watch() async throws {
        var problem: String?
        while true {
            try await Task.sleep(for: interval)
            let present: String?
            do {
                _ = try await FileProvider<JSONSnapshot>(filePath: path)
                present = nil
            } catch {
                present = "\(error)"
            }
            if let present, present != problem {
                logger.error("The configuration stays as it was", metadata: ["problem": "\(path): \(present)"])
            } else if present == nil, problem != nil {
                logger.notice("The configuration can be read again")
            }
            problem = present
        }
    }
}
