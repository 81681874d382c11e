import ArgumentParser
import AuthRecovery
import CommandLineSupport
import Glibc
import HTTPRecovery
import HTTPTypes

/// What request sends, and whether a token may be seen.
struct SendingOptions: ParsableArguments {
    // Joined values (-XPOST) are accepted, and values that begin with a dash.
    @Option(
        name: [.customShort("X", allowingJoined: true), .customLong("method")],
        parsing: .unconditional,
        help: ArgumentHelp("request: the method. Default: GET, with -d POST.", valueName: "method")
    )
    var method: String?

    @Option(
        name: [.customShort("H", allowingJoined: true), .customLong("header")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("request: a header field; can be given several times.", valueName: "'Name: value'")
    )
    var headers: [String] = []

    @Option(
        name: [.customShort("d", allowingJoined: true), .customLong("data")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            request: the body, or the file that holds it (@- is standard input), sent as it is. The content type is that \
            of a form unless a header says otherwise. Several texts are joined with &.
            """,
            valueName: "data|@file"
        )
    )
    var data: [String] = []

    @Flag(name: .customLong("show"), help: "token: print it although everybody who looks on can read it.")
    var shows = false

    /// Checks that the options fit the command.
    func check(for command: CommandName) throws {
        if command != .request {
            try Misplaced.refuse(
                ["-X": method != nil, "-H": !headers.isEmpty, "-d": !data.isEmpty],
                belongingTo: "request"
            )
        }
        if command != .token, shows { throw ValidationError("--show belongs to token.") }
        if command == .token, !shows, isatty(STDOUT_FILENO) != 0 {
            throw ValidationError(
                "A token on the screen can be read by everybody who looks on; --show prints it all the same."
            )
        }
        do {
            _ = try request("/", body: nil)
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// The request that the options describe; the session's credential is added by who sends it.
    ///
    /// - Parameters:
    ///   - path: Its path below the base URL.
    ///   - body: Its body, as `RequestInput.body` has read it.
    func request(_ path: String, body: MessageBody?) throws(InvalidOption) -> ProviderRequest {
        let name = method ?? (data.isEmpty ? "GET" : "POST")
        guard let method = HTTPRequest.Method(name), method != .connect else {
            throw InvalidOption("-X: \(name.prefix(40)) is no method that can be sent")
        }
        if method == .head, !data.isEmpty { throw InvalidOption("a HEAD request cannot have a body (-d)") }
        guard headers.count <= 1000 else { throw InvalidOption("-H: more than 1000 header fields") }
        var fields = HTTPFields()
        for text in headers {
            do {
                fields.append(try HeaderOption.parse(text))
            } catch {
                throw InvalidOption("-H: \(error.description)")
            }
        }
        // The session's credential would take its place, or it the credential's.
        for name in [HTTPField.Name.authorization, .cookie] where fields.contains(name) {
            throw InvalidOption("-H: \(name) is the field that the session's credential is presented in")
        }
        if !fields.contains(.accept) { fields[.accept] = "application/json, */*;q=0.5" }
        let content = body.map { ProviderRequest.Content($0, type: "application/x-www-form-urlencoded") }
        return ProviderRequest(method, path: path, headerFields: fields, body: content)
    }
}
