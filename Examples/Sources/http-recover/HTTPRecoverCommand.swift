import ArgumentParser
import CommandLineSupport
import HTTPRecovery

/// The options of the program, as they were written.
///
/// No group holds another: a debug build of swift-argument-parser checks each level five times as often as the one above.
struct HTTPRecoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http-recover",
        abstract: "Sends HTTP requests, waits when the server asks for it, and tries again where that is safe.",
        usage: "http-recover [options] URL…",
        discussion: HelpText.discussion,
        version: HelpText.version
    )

    @Argument(help: ArgumentHelp("http or https URLs, percent-encoded.", valueName: "URL"))
    var urls: [String] = []

    @OptionGroup(title: "Request") var target: MethodOptions

    @OptionGroup(title: "Header fields") var fields: FieldOptions

    @OptionGroup(title: "Body") var content: BodyOptions

    @OptionGroup(title: "Where the answer goes") var outputs: OutputOptions

    @OptionGroup(title: "Recovery") var recovery: RecoveryOptions

    @OptionGroup(title: "Recovery") var state: StateOptions

    @OptionGroup(title: "Credentials") var tokens: TokenOptions

    @OptionGroup(title: "Several calls") var calls: CallOptions

    @OptionGroup(title: "Connection") var connection: ConnectionOptions

    @OptionGroup(title: "Connection") var network: NetworkOptions

    @OptionGroup(title: "What is told") var report: ReportOptions

    @OptionGroup(title: "What is told") var telling: TellingOptions

    @OptionGroup(title: "What is so anyway, for scripts that were written for curl") var kept: KeptOptions
}
