#if Configuration
public import AuthRecovery
public import Configuration
import HTTPRecovery

extension Secret {
    /// Reads a secret from a configuration, whose access reports show it to nobody.
    ///
    /// - Parameters:
    ///   - config: The configuration.
    ///   - key: Where the secret stands, as a text.
    /// - Throws: `RecoveringClient.Settings.Invalid` if it is missing or empty; it names the key.
    public init(config: ConfigReader, forKey key: ConfigKey) throws {
        guard let text = config.string(forKey: key, isSecret: true), !text.isEmpty else {
            throw RecoveringClient.Settings.Invalid(key: "\(key)", "\(key) is to be a text, and not an empty one")
        }
        self.init(text)
    }
}
#endif
