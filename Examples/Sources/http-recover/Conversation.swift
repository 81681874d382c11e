import CommandLineSupport
import HTTPRecovery
import HTTPTypes

/// Tells a person what is sent and what comes, as `curl -v` does: requests behind `>`, answers behind `<`.
///
/// The values of fields that may hold a secret are left out, and so is the query of a URL.
struct Conversation: ClientLayer {
    let terminal: Terminal

    /// It looks on, wherever the call goes.
    var followsToOtherOrigins: Bool { true }

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        let hasQuery = request.path?.utf8.contains(UInt8(ascii: "?")) ?? false
        let target = request.pathWithoutQuery + (hasQuery ? "?…" : "")
        tell(">", HeadText.lines(request, target: target))
        let response = try await next(request, body: body, context: context)
        tell("<", HeadText.lines(response.head, version: response.report?.metrics?.httpVersion))
        return response
    }

    /// All at once, so that calls at the same time do not mix their lines.
    private func tell(_ mark: ScreenText, _ lines: [ScreenText]) {
        var text = lines.reduce("" as ScreenText) { $0 + mark + " " + $1 + "\n" }
        text = text + mark
        if !terminal.isQuiet { terminal.write(text) }
    }
}
