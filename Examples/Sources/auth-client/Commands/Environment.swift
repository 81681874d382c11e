import AuthRecovery
import Glibc

/// Reads the environment.
enum Environment {
    /// The value of a variable.
    ///
    /// - Parameters:
    ///   - name: The variable; nil where none was named.
    ///   - option: The option that names it.
    static func secret(_ name: String?, option: String) throws -> Secret? {
        guard let name else { return nil }
        guard let value = text(name) else {
            throw InputError("\(option): there is no environment variable of that name")
        }
        return Secret(value)
    }

    /// The value of a variable; nil where there is none, or it is empty.
    static func text(_ name: String) -> String? {
        // The text belongs to the environment and is copied at once; nothing here changes the environment.
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }
}
