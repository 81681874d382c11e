import CommandLineSupport
import HTTPRecovery

/// A picture that a person has to scan with their phone, as some servers hand it over: within the answer.
///
/// No terminal shows it, so it is put into a file, which is the person's alone: whoever scans it has the second factor.
struct SetupPicture {
    private static let kinds = ["png": "png", "jpeg": "jpg", "gif": "gif", "webp": "webp", "svg+xml": "svg"]

    private let bytes: [UInt8]
    private let ending: String

    /// Reads a `data:` URL (RFC 2397) with an image in Base64; nil if the text is none.
    init?(_ url: String) {
        let prefix = "data:image/"
        guard url.lowercased().hasPrefix(prefix), let comma = url.firstIndex(of: ",") else { return nil }
        let parameters = url[..<comma].dropFirst(prefix.count).lowercased().split(separator: ";")
        guard let kind = parameters.first, parameters.last == "base64", let ending = Self.kinds[String(kind)],
            let bytes = Base64.decode(url[url.index(after: comma)...].utf8), !bytes.isEmpty
        else { return nil }
        (self.bytes, self.ending) = (bytes, ending)
    }

    /// Puts it into a new file among the temporary ones.
    ///
    /// - Returns: The file's path.
    func keep() throws -> String {
        let directory = Environment.text("TMPDIR") ?? "/tmp"
        let name = String(UInt64.random(in: 0 ... .max), radix: 36)
        let file = try AtomicFile("\(directory)/auth-client-\(name).\(ending)", mode: 0o600)
        try file.write(bytes[...])
        try file.commit()
        return file.path
    }
}
