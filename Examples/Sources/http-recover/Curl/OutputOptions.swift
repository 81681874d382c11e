import ArgumentParser
import CommandLineSupport

/// Where answers go; by curl's names.
///
/// The order of -o and -O counts (``CommandWords``): each belongs to a URL.
struct OutputOptions: ParsableArguments {
    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Where the body goes, - is standard output; the file appears when it is complete. For several URLs give one for \
            each, in their order.
            """,
            valueName: "FILE"
        ),
        completion: .file()
    )
    var output: [String] = []

    @Flag(
        name: [.customShort("O"), .customLong("remote-name")],
        help: "Takes the last part of the URL's path as the file."
    )
    var remoteName: Int

    @Flag(help: "The same for each URL without -o.")
    var remoteNameAll = false

    @Option(help: ArgumentHelp("The directory of these files.", valueName: "DIR"), completion: .directory)
    var outputDir: String?

    @Flag(help: "Makes the directories that are missing.")
    var createDirs = false

    @Option(
        name: [.customShort("C"), .customLong("continue-at")],
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            With -: goes on with what FILE (-o) holds of an earlier download, and with the rest if the transfer breaks off, \
            if the server takes ranges; what has come is kept.
            """,
            valueName: "-"
        )
    )
    var continueAt: String?

    @Flag(
        name: [.customShort("N"), .customLong("no-buffer")],
        help: """
            Writes all as soon as it comes, to a file under its own name too. Without it the first second of a body is held \
            back, up to 1 MiB, so that one that breaks off in it can be asked for again.
            """
    )
    var noBuffer = false

    @Flag(
        name: .shortAndLong,
        help: "Writes the head of the answer before its body, and those of redirects that were followed."
    )
    var include = false

    @Flag(name: [.customShort("I"), .customLong("head")], help: "Asks for the head alone (HEAD), and writes that.")
    var head = false

    @Option(
        name: [.customShort("D"), .customLong("dump-header")],
        parsing: .unconditional,
        help: ArgumentHelp("Writes these heads to a file; - is standard output.", valueName: "FILE"),
        completion: .file()
    )
    var dumpHeader: String?

    @Flag(name: .shortAndLong, help: "Writes no body of an error; the exit status is 22 with and without.")
    var fail = false

    @Option(parsing: .unconditional, help: ArgumentHelp("The largest body to accept.", valueName: "BYTES"))
    var maxBody: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The same as --max-body; 0 is no limit.", valueName: "BYTES")
    )
    var maxFilesize: Int?

    /// The most bytes of a body, by either name; nil for no limit.
    var bodyLimit: Int? { maxBody ?? maxFilesize.flatMap { $0 > 0 ? $0 : nil } }

    /// Where the bodies of the URLs go, in their order.
    ///
    /// - Parameter isSingle: Whether there is one call, so that its body goes to standard output if nothing else is said.
    func targets(for urls: [String], isSingle: Bool, _ words: CommandWords) throws(InvalidOption) -> [BodyPlace] {
        var places: [BodyPlace?] = []
        for option in words.options {
            switch option.name {
            case "--output":
                guard let path = option.value, !path.isEmpty else {
                    throw InvalidOption("-o: the name of the file is empty")
                }
                places.append(path == "-" ? .standardOutput : .file(path))
            case "--remote-name": places.append(nil)
            default: break
            }
        }
        guard places.count <= urls.count else {
            throw InvalidOption("there are more -o and -O than URLs: each takes the body of one, not of several")
        }
        // Whoever wants one of the bodies there wants the others that have no place of their own there too, as in curl.
        let showsAll = isSingle || include || head || places.contains(.standardOutput)
        var targets: [BodyPlace] = []
        for (index, url) in urls.enumerated() {
            let isNamed = index < places.count
            if isNamed, let place = places[index] {
                targets.append(inDirectory(place))
            } else if isNamed || remoteNameAll {
                targets.append(inDirectory(.file(try Self.remoteName(of: url))))
            } else {
                targets.append(showsAll ? .standardOutput : .nowhere)
            }
        }
        return targets
    }

    private func inDirectory(_ place: BodyPlace) -> BodyPlace {
        guard let outputDir, case .file(let path) = place else { return place }
        return .file(outputDir.hasSuffix("/") ? outputDir + path : "\(outputDir)/\(path)")
    }

    /// The last part of a URL's path.
    private static func remoteName(of url: String) throws(InvalidOption) -> String {
        let bytes = url.utf8
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        let parts = url[..<end].split(separator: "/", omittingEmptySubsequences: false)
        // "http:", "", the host, and then the path.
        guard parts.count > 3, let name = parts.last, !name.isEmpty, name != ".", name != ".." else {
            throw InvalidOption("-O: the URL's path ends without a name for the file; name it with -o")
        }
        return String(name)
    }
}

/// Where a body goes.
enum BodyPlace: Sendable, Hashable {
    case standardOutput
    case file(String)
    /// Of several calls the status is enough.
    case nowhere

    /// The path of the file; nil for none.
    var path: String? { if case .file(let path) = self { path } else { nil } }
}
