import ArgumentParser
import HTTPRecovery

/// What is asked for and how; by curl's names.
struct MethodOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A URL too.", valueName: "URL"))
    var url: [String] = []

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

    @Option(parsing: .unconditional, help: ArgumentHelp("The most redirects to follow.", valueName: "N"))
    var maxRedirs: Int?
}
