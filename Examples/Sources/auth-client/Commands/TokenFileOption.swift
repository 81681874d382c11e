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
        if let path { FileTokenStore(path: path) } else { InMemoryTokenStore() }
    }

    /// The place that the options name.
    init(_ options: ClientOptions) {
        if options.tokens.keepsNothing {
            self = .memory
        } else if let path = options.tokens.tokenFile {
            self = .named(path)
        } else if let folder = Self.stateFolder {
            self = .standard("\(folder)/\(Self.fileName(options))")
        } else {
            self = .memory
        }
    }

    /// Where programs keep what outlives them (XDG Base Directory Specification); nil without a home.
    private static var stateFolder: String? {
        // By the specification a path that is not absolute is to be ignored.
        if let state = Environment.text("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/auth-client" }
        guard let home = Environment.text("HOME"), home.hasPrefix("/") else { return nil }
        return "\(home)/.local/state/auth-client"
    }

    /// A name that no two servers, realms or clients share, so that no token goes to another than its own.
    private static func fileName(_ options: ClientOptions) -> String {
        let url = options.baseURL ?? ""
        var parts = [options.provider.rawValue]
        let isSecure = url.lowercased().hasPrefix("https://")
        if !isSecure { parts.append("http") }
        parts.append(String(url.drop { $0 != "/" }.drop { $0 == "/" }))
        parts += [
            options.forgeRock.realm, options.oauth.clientID, options.oauth.authServer, options.facebook.appID,
        ].compactMap { $0 }
        let name = parts.map(escaped).joined(separator: "_")
        return "\(name.prefix(200)).json"
    }

    /// The text in letters that every file system takes; what is replaced keeps its number, so that two stay two.
    private static func escaped(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while rest.last == "/" { rest = rest.dropLast() }
        for byte in rest.lowercased().utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                UInt8(ascii: "-"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "%" + String(byte, radix: 16)
            }
        }
        return result
    }
}

extension TokenPlace {
    /// Checks that tokens could be kept there, before a password or code is spent for one.
    ///
    /// - Throws: ``InputError`` where they could not.
    func check() throws(InputError) {
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
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
