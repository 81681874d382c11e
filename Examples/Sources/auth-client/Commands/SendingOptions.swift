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
        help: ArgumentHelp(
            """
            request: a header field; can be given several times. 'Name:' leaves out what would be sent, 'Name;' sends it \
            empty, and @file takes the lines of a file.
            """,
            valueName: "'Name: value'"
        )
    )
    var headers: [String] = []

    @Option(
        name: [.customShort("d", allowingJoined: true), .customLong("data")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            request: the body, or the file that holds it (@- is standard input), sent as it is. The content type is that \
            of a form unless a header says otherwise. Several of these are joined with &.
            """,
            valueName: "data|@file"
        )
    )
    var data: [String] = []

    @Flag(
        name: [.customShort("N"), .customLong("no-buffer")],
        help: """
            get and request: write the body as it comes from the first byte on, however long that takes. Without it the \
            first 1 MiB, or all there is, has come before any of it is written, so that a body that breaks off in it can \
            be asked for again.
            """
    )
    var writesAtOnce = false

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
        if !command.requestsPath {
            try Misplaced.refuse(["-N": writesAtOnce], belongingTo: "get and request")
        }
        if command != .token, shows { throw ValidationError("--show belongs to token.") }
        if command == .token, !shows, isatty(STDOUT_FILENO) != 0 {
            throw ValidationError(
                "A token on the screen can be read by everybody who looks on; --show prints it all the same."
            )
        }
        do {
            // Files are read when the request is to be sent.
            let isRead = !data.contains { $0.hasPrefix("@") }
            let length = isRead ? try RequestInput.body(data)?.length ?? 0 : nil
            _ = try request("/", body: nil, length: length, headers: headers.filter { !$0.hasPrefix("@") })
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// The request that the options describe; the session's credential is added by who sends it.
    ///
    /// - Parameters:
    ///   - path: Its path below the base URL.
    ///   - body: Its body, as `RequestInput.body` has read it.
    func request(_ path: String, body: MessageBody?) throws -> ProviderRequest {
        try request(path, body: body, length: body?.length ?? 0, headers: headers)
    }

    private func request(
        _ path: String,
        body: MessageBody?,
        length: Int?,
        headers: [String]
    ) throws -> ProviderRequest {
        let name = method ?? (data.isEmpty ? "GET" : "POST")
        guard let method = HTTPRequest.Method(name), method != .connect else {
            throw InvalidOption("-X: \(name.prefix(40)) is no method that can be sent")
        }
        if method == .head, !data.isEmpty { throw InvalidOption("a HEAD request cannot have a body (-d)") }
        let (sent, isLeftOut) = try HeaderLine.fields(headers, bodyLength: length)
        var fields = sent
        // The session's credential would take its place, or it the credential's.
        for name in [HTTPField.Name.authorization, .cookie] where fields.contains(name) {
            throw InvalidOption("-H: \(name) is the field that the session's credential is presented in")
        }
        if !fields.contains(.accept), !isLeftOut.contains(.accept) { fields[.accept] = "application/json, */*;q=0.5" }
        let type = isLeftOut.contains(.contentType) ? nil : "application/x-www-form-urlencoded"
        let content = body.map { ProviderRequest.Content($0, type: type) }
        return ProviderRequest(method, path: path, headerFields: fields, body: content)
    }
}
