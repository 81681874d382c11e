import Glibc

/// Reads the environment.
public enum Environment {
    /// The value of a variable; nil if there is none, or it is empty.
    public static func text(_ name: String) -> String? {
        // The text belongs to the environment and is copied at once; nothing here changes the environment.
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }

    /// Whether there is a variable whose name begins so.
    public static func holds(prefix: String) -> Bool {
        // The list belongs to the system and ends with a null pointer; nothing here changes it.
        var next: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe environ
        while let variable = unsafe next?.pointee {
            if unsafe strncmp(variable, prefix, prefix.utf8.count) == 0 { return true }
            unsafe next = unsafe next?.successor()
        }
        return false
    }

    /// A folder that a variable names (XDG Base Directory Specification), else one in the home; nil without a home.
    ///
    /// By the specification a path that is not absolute is to be ignored.
    public static func folder(_ variable: String, orInHome path: String) -> String? {
        if let folder = text(variable), folder.hasPrefix("/") { return folder }
        return text("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/\(path)" : nil }
    }

    /// The value of a variable that an option names.
    ///
    /// - Throws: ``InvalidOption`` if there is none, or it is empty; the name is not repeated, since a secret may have
    ///   been written in its place.
    public static func text(_ name: String, for option: String) throws(InvalidOption) -> String {
        guard let text = text(name) else {
            throw InvalidOption("\(option): there is no environment variable of that name, or it is empty")
        }
        return text
    }
}
