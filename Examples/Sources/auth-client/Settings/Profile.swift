import CommandLineSupport
import Glibc
import HTTPRecovery

/// Options under a name, kept in a file: a JSON object whose keys are the options' long names.
struct Profile: Sendable {
    let name: String
    let path: String
    /// The values of each option, by its long name; of a flag `true` or `false`.
    private(set) var values: [String: [String]] = [:]

    private init(named name: String) throws(InputError) {
        guard Self.isName(name) else {
            throw InputError("a profile's name begins with a letter or digit; dots, dashes and underscores may follow")
        }
        guard let folder = Self.folder else { throw InputError("there is no place for profiles: HOME is not set") }
        self.name = name
        path = "\(folder)/\(name).json"
    }

    private static var folder: String? {
        Environment.folder("XDG_CONFIG_HOME", orInHome: ".config").map { "\($0)/auth-client/profiles" }
    }

    private static func isName(_ name: String) -> Bool {
        let isWord = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isWord && name.utf8.count <= 100 && name.utf8.first.map { !".-_".utf8.contains($0) } ?? false
    }

    // MARK: Reading

    /// Reads a profile.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - options: The options that there are.
    /// - Throws: ``InputError`` that names the file, and the key that is wrong.
    init(_ name: String, options: OptionList) throws {
        try self.init(named: name)
        guard unsafe access(path, F_OK) == 0 else {
            let others = Self.names
            let known = others.isEmpty ? "there is none yet" : "there are: \(others.joined(separator: ", "))"
            throw InputError("there is no profile \(name) (\(path)); \(known)")
        }
        let file = try status()
        // Whoever can change it says where a password goes; a group of the owner's own is nobody else.
        guard file.st_mode & (file.st_gid == file.st_uid ? 0o002 : 0o022) == 0 else {
            throw InputError("the profile \(path) can be changed by others: chmod go-w makes it yours")
        }
        let json: JSONValue
        do {
            json = try JSONValue(parsing: try StandardInput.contents(of: path))
        } catch let error as JSONValue.ParseError {
            throw InputError("the profile \(path) is not JSON: \(error)")
        }
        guard let members = json.members else { throw InputError("the profile \(path) is not a JSON object") }
        if let key = json.repeatedKey { throw InputError("the profile \(path) has the key \"\(key)\" twice") }
        for member in members {
            guard let option = options[long: member.key], option.canBeKept else {
                throw InputError(Self.unknown(member.key, in: path, options: options))
            }
            guard let texts = Self.texts(member.value, of: option) else {
                let form =
                    option.isFlag ? "true or false" : option.isRepeating ? "a text or an array of texts" : "a text"
                throw InputError("the profile \(path): \(member.key) takes \(form)")
            }
            values[member.key] = texts
        }
        guard file.st_mode & 0o077 == 0 || !mayHoldSecret else {
            throw InputError("the profile \(path) may hold a secret that others can read: chmod 600")
        }
    }

    private static func unknown(_ key: String, in path: String, options: OptionList) -> String {
        let dashed = String(key.map { $0 == "_" ? "-" : $0 })
        let hint =
            options[long: dashed]?.canBeKept == true
            ? "did you mean \(dashed)?" : "keys are the long names of options, such as base-url"
        return "the profile \(path) has the unknown key \"\(key)\"; \(hint)"
    }

    private static func texts(_ value: JSONValue, of option: OptionList.Option) -> [String]? {
        if option.isFlag { return value.bool.map { ["\($0)"] } }
        if option.isRepeating, let values = value.array {
            let texts = values.compactMap { $0.string ?? $0.codeText }
            return texts.count == values.count ? texts : nil
        }
        return (value.string ?? value.codeText).map { [$0] }
    }

    private func status() throws(InputError) -> stat {
        var status = stat()
        // The call fills the local value.
        guard unsafe stat(path, &status) == 0 else { throw InputError("the profile \(path) cannot be read") }
        return status
    }

    /// Whether a value may be one that others should not read: a URL with a password, a header field, a body.
    private var mayHoldSecret: Bool {
        ["header", "data", "proxy-user"].contains { values[$0] != nil }
            || ["state", "proxy"].contains { name in
                values[name]?.contains { $0.utf8.contains(UInt8(ascii: "@")) } ?? false
            }
    }

    // MARK: Listing and keeping

    /// The names of all profiles, sorted.
    static var names: [String] {
        guard let folder, let handle = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(handle) }
        var names: [String] = []
        while let entry = unsafe readdir(handle) {
            // The entry is valid until the next call; the name is copied.
            let file = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard file.hasSuffix(".json") else { continue }
            let name = String(file.dropLast(".json".count))
            if isName(name) { names.append(name) }
        }
        return names.sorted()
    }

    /// A line for each profile: its name, whose server it is, and where.
    static var lines: [ScreenText] {
        names.map { name in
            let path = folder.map { "\($0)/\(name).json" } ?? ""
            guard let json = try? JSONValue(parsing: try StandardInput.contents(of: path)) else {
                return "\(name, limit: 100)  (cannot be read)"
            }
            let parts = [json["provider"], json["base-url"] ?? json["org"]].compactMap { $0?.string }
            return "\(([name] + parts).joined(separator: "  "), limit: 500)"
        }
    }

    /// Keeps options as a profile, in the place of one that has the name already.
    ///
    /// - Parameters:
    ///   - arguments: What is written on the command line.
    ///   - name: The profile's name.
    /// - Throws: ``InputError`` if nothing is there to keep, `FileError` if it cannot be kept.
    static func saving(_ arguments: some Sequence<String>, as name: String) throws -> Profile {
        let profile = try Profile(named: name)
        let options = try OptionList(of: AuthClient.self)
        var members: [JSONValue.Member] = []
        let list = options.written(in: Array(arguments))
        guard !list.contains(where: { $0.option.longNames.contains("profile") }) else {
            throw InputError("save-profile keeps the options that are written, and none of another --profile")
        }
        // Whether it is answered as JSON is this command's affair.
        for written in list where written.option.canBeKept {
            guard let key = written.option.longNames.first, key != "json" else { continue }
            let value: JSONValue = written.option.isFlag ? true : .string(Self.value(written))
            if let index = members.firstIndex(where: { $0.key == key }) {
                let before = members[index].value
                members[index].value = written.option.isRepeating ? .array((before.array ?? [before]) + [value]) : value
            } else {
                members.append(JSONValue.Member(key, value))
            }
        }
        guard !members.isEmpty else {
            throw InputError("save-profile keeps the options that it is given, and there are none")
        }
        try profile.write(.object(members))
        return profile
    }

    /// The value of an option, with a file in it that a profile means wherever it is used.
    private static func value(_ written: OptionList.Written) -> String {
        switch written.option.longNames.first {
        case _ where written.option.isPath, "state": return absolute(written.value)
        case "data" where written.value.hasPrefix("@"), "header" where written.value.hasPrefix("@"):
            return "@" + absolute(String(written.value.dropFirst()))
        default: return written.value
        }
    }

    /// A path seen from the root; of a state, the one behind `sqlite:`.
    private static func absolute(_ value: String) -> String {
        let scheme = "sqlite:"
        if value.hasPrefix(scheme) { return scheme + absolute(String(value.dropFirst(scheme.count))) }
        guard !value.hasPrefix("/"), value != "-", value != "memory", !value.contains("://"),
            let folder = unsafe getcwd(nil, 0)
        else { return value }
        defer { unsafe free(folder) }
        return unsafe "\(String(cString: folder))/\(value)"
    }

    private func write(_ json: JSONValue) throws {
        try Directories.make(above: path, mode: 0o700)
        let file = try AtomicFile(path, mode: 0o600)
        try file.write(Array("\(json)\n".utf8)[...])
        try file.commit()
    }
}
