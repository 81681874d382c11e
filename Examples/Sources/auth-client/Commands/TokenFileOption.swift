import ArgumentParser
import AuthRecovery
import CommandLineSupport
import Glibc
import HTTPRecovery
import HTTPTypes

/// Where tokens are kept.
struct TokenFileOptions: ParsableArguments {
    @Option(
        name: .customLong("token-file"),
        help: ArgumentHelp(
            "Keep tokens in this JSON file (mode 0600). Default: a file of its own for each server below "
                + "$XDG_STATE_HOME/auth-client, or ~/.local/state/auth-client.",
            valueName: "file"
        ),
        completion: .file()
    )
    var tokenFile: String?

    @Flag(name: .customLong("no-token-file"), help: "Keep tokens no longer than the command lasts.")
    var keepsNothing = false

    func validate() throws {
        if tokenFile?.isEmpty == true { throw ValidationError("--token-file is empty.") }
        if tokenFile != nil, keepsNothing {
            throw ValidationError("--token-file and --no-token-file contradict each other.")
        }
    }
}

/// Where one command keeps its tokens.
enum TokenPlace: Sendable {
    /// Nowhere but in memory.
    case memory
    /// In a file that was named.
    case named(String)
    /// In a file of this server's, which nobody named.
    case standard(String)

    /// The file; nil for none.
    var path: String? {
        switch self {
        case .memory: nil
        case .named(let path), .standard(let path): path
        }
    }

    /// A store for the tokens.
    var store: any TokenStore {
        if let path { CheckedTokenStore(path: path) } else { InMemoryTokenStore() }
    }

    /// The place that the options name.
    init(_ options: AuthClient) {
        if options.tokens.keepsNothing {
            self = .memory
        } else if let path = options.tokens.tokenFile {
            self = .named(path)
        } else if let folder = Environment.folder("XDG_STATE_HOME", orInHome: ".local/state") {
            self = .standard("\(folder)/auth-client/\(Self.fileName(options))")
        } else {
            self = .memory
        }
    }

    /// A name that no two servers, realms or clients share, so that no token goes to another than its own.
    private static func fileName(_ options: AuthClient) -> String {
        let url = options.baseURL ?? ""
        let isSecure = url.lowercased().hasPrefix("https://")
        var server = url.drop { $0 != "/" }.drop { $0 == "/" }
        while server.last == "/" { server = server.dropLast() }
        // Hosts are the same in any case, paths are not.
        let host = server.prefix { $0 != "/" }
        var parts: [String?] = [
            host.lowercased() + server[host.endIndex...], options.forgeRock.realm, options.oauth.clientID,
            options.oauth.authServer, options.facebook.appID, options.oauth.tokenURL,
            options.auth0.audience,
        ]
        // What is not there keeps its place, or one client's name could be another's realm.
        while parts.last == .some(nil) { parts.removeLast() }
        let scheme = isSecure ? [] : ["http"]
        let name = ([options.provider.rawValue] + scheme + parts.map { escaped($0 ?? "") }).joined(separator: "_")
        return folded("\(name).json")
    }

    /// A path of names that are not too long for a file system: a longer one becomes a file in directories.
    private static func folded(_ name: String) -> String {
        var rest = name[...]
        var path = ""
        while rest.utf8.count > longestName {
            path += rest.prefix(longestName) + "/"
            rest = rest.dropFirst(longestName)
        }
        return path + rest
    }

    private static let longestName = 200

    /// The text in letters that every file system takes; what is replaced keeps its number, so that two stay two.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            // Always two digits, or the next letter could be one of them.
            default: result += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
        return result
    }
}

extension TokenPlace {
    /// Checks that the directory of a file that was named is there: one that is not is a slip of the pen, and not to be made.
    ///
    /// - Throws: `FileError` if it is not.
    func checkFolder() throws(FileError) {
        if case .named(let path) = self { try Directories.check(above: path) }
    }

    /// Checks that tokens could be kept there, before a password or code is spent for one.
    ///
    /// - Throws: ``InputError`` if they could not; `Credentials.StoreError` if what is there cannot be understood.
    func check() async throws {
        guard let path else { return }
        var status = stat()
        let exists = unsafe stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT == S_IFDIR { throw InputError("\(path) is a directory, and no token file") }
        if exists, unsafe access(path, R_OK) != 0 { throw InputError("the token file \(path) cannot be read") }
        // A file is replaced as a whole, so it is the directory that has to let it.
        var folder = Self.folder(of: path)
        while unsafe access(folder, F_OK) != 0, folder != "/", folder != "." { folder = Self.folder(of: folder) }
        var kind = stat()
        let isFolder = unsafe stat(folder, &kind) == 0 && kind.st_mode & S_IFMT == S_IFDIR
        guard isFolder, unsafe access(folder, W_OK | X_OK) == 0 else {
            throw InputError("no token can be kept in \(path): \(folder) cannot be written to")
        }
        _ = try await store.read()
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
