import AuthRecovery
import CommandLineSupport

extension Environment {
    /// The value of a variable.
    ///
    /// - Parameters:
    ///   - name: The variable; nil if none was named.
    ///   - option: The option that names it.
    static func secret(_ name: String?, option: String) throws -> Secret? {
        guard let name else { return nil }
        guard let value = text(name) else {
            throw InputError("\(option): there is no environment variable of that name")
        }
        return Secret(value)
    }
}
