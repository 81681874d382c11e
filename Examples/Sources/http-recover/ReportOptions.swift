import ArgumentParser
import CommandLineSupport

/// What the program tells besides the body.
struct ReportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Writes events as JSON Lines; the file is emptied first. With - they go to standard error, alone.",
            valueName: "FILE|-"
        ),
        completion: .file()
    )
    var events: String?

    @Option(
        help: ArgumentHelp(
            "Writes what was decided in each call and by what; 'http-recover replay FILE' decides it again.",
            valueName: "FILE"
        ),
        completion: .file()
    )
    var record: String?

    @Flag(help: "Counts calls, attempts and waits on standard error at the end.")
    var summary = false

    @Flag(help: "Tells the phases of each attempt on standard error when its call has ended.")
    var timings = false

    @Option(
        name: [.customShort("w"), .customLong("write-out")],
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Writes a text when a call has ended, with curl's variables: '%{http_code} %{time_total}\\n'. With @FILE the \
            text stands in a file, @- is standard input.
            """,
            valueName: "FORMAT|@FILE"
        )
    )
    var writeOut: String?

    @Flag(name: .shortAndLong, help: "The same as --quiet, and errors are not told either, unless with -S.")
    var silent = false

    @Flag(name: [.customShort("S"), .customLong("show-error")], help: "Tells errors in spite of -s.")
    var showError = false

    /// Whether not even errors are told.
    var isSilent: Bool { silent && !showError }
}
