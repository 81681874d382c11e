#if Configuration
import Configuration
package import HTTPRecovery

/// What is configured beside a policy: the keys of each part, as the page "Configuration" lists them.
package enum LayerOptions {
    package static let redirects: [String: SettingsOption] = ["limit": .number]
    package static let announcedLimits: [String: SettingsOption] = [
        "per": .text, "spacing_below": .number, "up_to_s": .seconds,
    ]
    package static let staleAnswers: [String: SettingsOption] = [
        "for_s": .seconds, "most_entries": .number, "most_bytes": .number,
    ]
    package static let renewal: [String: SettingsOption] = [
        "leeway_s": .seconds, "timeout_s": .seconds, "lease_s": .seconds, "cooldown_s": .seconds, "limit": .number,
        "window_s": .seconds,
    ]

    /// The values that stand at the top of a configuration.
    static func reader(
        _ options: [String: SettingsOption],
        in config: ConfigReader
    ) throws(SettingsReader.Failure) -> SettingsReader {
        let json = config.snapshot().policy(options)
        return try SettingsReader(json, at: "the configuration", keys: Set(options.keys), isRoot: true)
    }
}
#endif
