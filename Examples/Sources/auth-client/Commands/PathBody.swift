import CommandLineSupport
import HTTPRecovery
import HTTPTypes

/// Writes the body of the answer about the path as a part of the attempt, and bounds each attempt.
///
/// As of any provider's answer 1 MiB of it, or all, is there before any of it goes out: what is meant by a success may stand
/// in it. What is more goes out as it comes, and with `-N` all does.
struct PathBody: ClientLayer {
    private let timeout = AttemptTimeout(.seconds(30))
    /// What is large takes its time, while it comes.
    private let patience = AttemptTimeout(.longest, idle: .seconds(30))
    private let download: RecoveringClient.Download
    private let writesAtOnce: Bool
    private let method: String
    /// The path; nil if none is requested.
    private let path: Substring?

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - sending: What is sent.
    ///   - path: The path or its URL; nil if none is requested.
    ///   - output: Where the body goes.
    init(_ sending: SendingOptions, _ path: String?, _ output: StandardOutput) {
        self.path = path.map { path in
            let whole = (try? HTTPRequest(url: path)).map { $0.path ?? "" } ?? path
            return whole.prefix { $0 != "?" && $0 != "#" }.drop { $0 == "/" }
        }
        method = sending.method ?? (sending.data.isEmpty ? "GET" : "POST")
        writesAtOnce = sending.writesAtOnce
        download = RecoveringClient.Download(to: SinkTarget(output, on: output.thread)) { _ in false }
    }

    /// A body that goes out as it comes is one.
    var bearsHedges: Bool { false }

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var context = context
        guard let path, request.method.rawValue == method, request.pathWithoutQuery.hasSuffix("/\(path)") else {
            timeout.adjust(&context)
            return try await next(request, body: body, context: context)
        }
        if writesAtOnce {
            context.options.buffering = .streamed
        } else {
            patience.adjust(&context)
        }
        return try await download.intercept(request, body: body, context: context, next: next)
    }
}
