import ArgumentParser
import CommandLineSupport
import HTTPRecovery

/// What is asked for and how; by curl's names.
struct MethodOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A URL too.", valueName: "URL"))
    var url: [String] = []

    @Flag(help: "Send the path of a URL as it is, with segments such as .. in it.")
    var pathAsIs = false

    @Option(
        name: [.customShort("X", allowingJoined: true), .customLong("request")],
        parsing: .unconditional,
        help: ArgumentHelp(
            "The method. Default: GET, with -d and -F POST, with -T PUT, with -I HEAD.",
            valueName: "METHOD"
        )
    )
    var method: String?

    @Flag(
        name: [.customShort("L"), .customLong("location")],
        help: "Follow redirects, at most \(Redirects().limit) or what --max-redirs says."
    )
    var location = false

    @Option(parsing: .unconditional, help: ArgumentHelp("The most redirects to follow with -L.", valueName: "N"))
    var maxRedirs: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The protocols that a URL may have: https, or both of http and https.", valueName: "=https"),
        transform: Protocols.parse
    )
    var proto: Protocols?
}

/// The protocols that URLs may have.
enum Protocols: Sendable {
    case https
    case both

    /// Reads curl's list, as far as it says one of the two: a redirect never leaves https, and may always lead there.
    static func parse(_ text: String) throws(InvalidOption) -> Protocols {
        let lowered = text.lowercased()
        // "Only these", in curl's two ways.
        let beginning = ["=", "-all,"].first { lowered.hasPrefix($0) }
        switch beginning.map({ Set(lowered.dropFirst($0.utf8.count).split(separator: ",")) }) {
        case ["https"]: return .https
        case ["http", "https"]: return .both
        default: throw InvalidOption("write =https, or =http,https; no other protocol is spoken, and https always is")
        }
    }

    /// Whether a URL has one of them.
    func allows(_ url: String) -> Bool { self == .both || url.lowercased().hasPrefix("https://") }
}
