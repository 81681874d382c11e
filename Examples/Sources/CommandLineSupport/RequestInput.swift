import Glibc
public import HTTPRecovery
public import HTTPTypes
import Synchronization

/// Requests from what a person writes.
public enum RequestInput {
    /// Reads a URL; user and password in it become a Basic `Authorization` field.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - method: The method.
    ///   - fields: The header fields; an `Authorization` field among them stands above the URL's user.
    public static func request(
        url: String,
        method: HTTPRequest.Method,
        fields: HTTPFields
    ) throws(InvalidOption) -> HTTPRequest {
        let (bare, user) = splitUser(url)
        var request: HTTPRequest
        do {
            request = try HTTPRequest(method: method, url: bare, headerFields: fields)
        } catch {
            throw InvalidOption("\(shown(bare)): \(error.description)")
        }
        if let user, !fields.contains(.authorization) {
            request.headerFields[.authorization] = "Basic " + Base64.encode(credentials(user))
        }
        return request
    }

    /// Reads a body from `DATA` or `@FILE`; `@-` is standard input.
    ///
    /// - Parameters:
    ///   - data: The values in order; more than one are joined with `&`, as in a form.
    ///   - limit: The most bytes that are taken from what is no regular file.
    public static func body(_ data: [String], limit: Int = 256 << 20) throws -> MessageBody? {
        guard let first = data.first else { return nil }
        if data.count > 1 {
            var bytes: [UInt8] = []
            for (index, text) in data.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: "&")) }
                bytes +=
                    try text.hasPrefix("@")
                    ? self.bytes(ofFile: String(text.dropFirst()), limit: limit) : Array(text.utf8)
            }
            return MessageBody(bytes)
        }
        guard first.hasPrefix("@") else { return MessageBody(first) }
        return try body(ofFile: String(first.dropFirst()), limit: limit)
    }

    /// A body from a file; `-` is standard input.
    ///
    /// A regular file is read anew for each attempt; everything else is taken into memory.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limit: The most bytes that are taken from what is no regular file.
    /// - Throws: ``FileError`` for what cannot be read.
    public static func body(ofFile path: String, limit: Int = 256 << 20) throws -> MessageBody {
        if path != "-", isRegularFile(path) {
            do {
                return try MessageBody(file: path)
            } catch MessageBody.ReadError.unreadableFile(_, let code) {
                throw FileError("read", path, code: code)
            }
        }
        return MessageBody(try bytes(ofFile: path, limit: limit))
    }

    /// What a file holds; `-` is standard input.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limit: The most bytes to take.
    /// - Throws: ``FileError`` for what cannot be read, or is larger; ``InvalidOption`` for standard input a second time, which
    ///   would be empty.
    public static func bytes(ofFile path: String, limit: Int = 256 << 20) throws -> [UInt8] {
        if path == "-", hasReadInput.exchange(true, ordering: .relaxed) {
            throw InvalidOption("- and @- can be given once: standard input ends once")
        }
        return try StandardInput.contents(of: path, upTo: limit)
    }

    private static let hasReadInput = Atomic(false)

    /// Reads what `-w` takes: a format, or with an `@` in front the name of the file that holds it.
    ///
    /// As in curl, the line ends of a file are no part of the format; `\n` is one.
    public static func format(_ text: String, limit: Int = 1 << 20) throws -> WriteOutFormat {
        guard text.hasPrefix("@") else { return WriteOutFormat(text) }
        let bytes = try bytes(ofFile: String(text.dropFirst()), limit: limit)
            .filter { ![0x00, 0x0a, 0x0d].contains($0) }
        return WriteOutFormat(String(decoding: bytes, as: UTF8.self))
    }

    /// Checks that a file can be read.
    public static func checkReadable(_ path: String) throws(FileError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("read", path, code: errno) }
        close(descriptor)
    }

    /// Checks a proxy's URL; what is wrong is said without repeating it, since it may hold a password.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - option: The option that it comes from.
    public static func proxy(_ url: String, option: String = "--proxy") throws(InvalidOption) -> String {
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        // As in curl, HOST:PORT is an HTTP proxy.
        let isBare = !url.contains("://") && url.utf8.contains(UInt8(ascii: ":"))
        let url = isBare ? "http://\(url)" : url
        let lowered = url.lowercased()
        guard let scheme = schemes.first(where: { lowered.hasPrefix("\($0)://") }) else {
            throw InvalidOption("\(option): begin the URL with \(schemes.joined(separator: "://, "))://")
        }
        // Whatever the scheme, the rest has the form of an HTTP URL.
        let (bare, _) = splitUser("http" + url.dropFirst(scheme.count))
        do {
            _ = try HTTPRequest(url: bare)
        } catch {
            throw InvalidOption("\(option): \(error.description)")
        }
        return url
    }

    private static func isRegularFile(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// A URL as it was written, without user and password.
    public static func withoutUser(_ url: String) -> String { splitUser(url).url }

    /// Takes user and password out of a URL.
    private static func splitUser(_ url: String) -> (url: String, user: Substring?) {
        let bytes = url.utf8
        var index = bytes.startIndex
        while index < bytes.endIndex, !url[index...].hasPrefix("://") { index = bytes.index(after: index) }
        guard index < bytes.endIndex else { return (url, nil) }
        let start = bytes.index(index, offsetBy: 3)
        let rest = url[start...]
        let ends = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        let end = rest.utf8.firstIndex { ends.contains($0) } ?? rest.endIndex
        guard let at = rest[..<end].utf8.lastIndex(of: UInt8(ascii: "@")) else { return (url, nil) }
        let host = rest[bytes.index(after: at)...]
        return (String(url[..<start]) + String(host), rest[..<at])
    }

    /// The user and password of a URL; "user" without a password is "user:".
    private static func credentials(_ user: Substring) -> [UInt8] {
        let bytes = PercentEncoding.decode(user.utf8)
        return bytes.contains(UInt8(ascii: ":")) ? bytes : bytes + [UInt8(ascii: ":")]
    }

    /// The URL without its user and query, which may hold a secret.
    private static func shown(_ url: String) -> String {
        let bare = url.prefix { $0 != "?" && $0 != "#" }
        // Without a scheme nobody can tell where a user and password would end, so all before an @ is left out.
        let shown = bare.lastIndex(of: "@").map { bare[bare.index(after: $0)...] } ?? bare
        return Masking.printable(String(shown), limit: 200)
    }
}
