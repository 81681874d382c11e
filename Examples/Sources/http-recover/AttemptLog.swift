import CommandLineSupport
import HTTPRecovery
import HTTPTypes
import Locking

/// Notes what each attempt of a call came to, closest to the transport.
final class AttemptLog: ClientLayer {
    private let time: TimeSource
    private let attempts = Locked<[Attempt]>([])

    private struct Attempt {
        let request: HTTPRequest
        let start: TimeSource.Instant
        var end: TimeSource.Instant?
        var head: HTTPResponse?
        var report: (any TransportResponse.Report)?
        var error: String?
        /// What was measured of an attempt that failed.
        var failureMetrics: History.AttemptMetrics?

        var metrics: History.AttemptMetrics? { report?.metrics ?? failureMetrics }
        var target: HTTPRequest? { head.flatMap { Redirects.target(of: $0, from: request) } }

        /// Where the answer redirects to; what is no URL of a request stands as it came, as curl writes it.
        var redirectURL: String {
            guard let head, (300..<400).contains(head.status.code),
                let location = head.headerFields[values: .location].first
            else { return "" }
            // Whatever its number: those are told too that are not followed.
            let redirect = HTTPResponse(status: .found, headerFields: [.location: location])
            guard let target = Redirects.target(of: redirect, from: request) else { return location }
            return AttemptLog.url(target) + location[(location.firstIndex(of: "#") ?? location.endIndex)...]
        }
    }

    init(_ time: TimeSource) {
        self.time = time
    }

    /// It looks on, wherever the call goes.
    var followsToOtherOrigins: Bool { true }

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        let start = time.now
        let index = attempts.withLock { attempts in
            attempts.append(Attempt(request: request, start: start))
            return attempts.count - 1
        }
        do {
            let response = try await next(request, body: body, context: context)
            end(index) {
                $0.head = response.head
                $0.report = response.report
            }
            return response
        } catch {
            let word = error is CancellationError ? "cancelled" : "failed"
            let failure = error as? TransportError
            end(index) {
                $0.error = failure?.code.rawValue ?? word
                $0.failureMetrics = failure?.metrics
            }
            throw error
        }
    }

    private func end(_ index: Int, _ change: (inout Attempt) -> Void) {
        attempts.withLock { attempts in
            attempts[index].end = time.now
            change(&attempts[index])
        }
    }

    /// The attempts as ``Timings`` tells them.
    var timings: [Timings] {
        attempts.withLock { $0 }.map { attempt in
            Timings(
                result: attempt.head.map { "HTTP \($0.status.code)" } ?? attempt.error ?? "unfinished",
                elapsed: attempt.start.duration(to: attempt.end ?? time.now),
                metrics: attempt.metrics
            )
        }
    }

    private static func url(_ request: HTTPRequest) -> String {
        "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
    }

    /// What is known of the call: of the attempt that has brought its answer, or of the last one if it is left without.
    ///
    /// - Parameters:
    ///   - answer: The head of the answer that the call is left with.
    ///   - request: What the call began with; it was not sent if no attempt was made.
    ///   - followsRedirects: Whether attempts that were redirected led to others.
    func values(of request: HTTPRequest, answer: HTTPResponse?, followsRedirects: Bool) -> WriteOutValues {
        let attempts = attempts.withLock { $0 }
        // What was begun last may be a hedge that came too late.
        let index = attempts.lastIndex { answer != nil && $0.head == answer } ?? attempts.count - 1
        let last = attempts.indices.contains(index) ? attempts[index] : nil
        let others = attempts.indices.filter { $0 != index }.map { attempts[$0] }
        let hops = followsRedirects ? others.filter { $0.target != nil } : []
        let sent = last?.request ?? request
        let scheme = sent.scheme ?? ""
        var values = WriteOutValues(
            url: Self.url(sent),
            method: sent.method.rawValue,
            scheme: scheme
        )
        values.head = last?.head
        values.metrics = last?.metrics
        values.elapsed = last.map { $0.start.duration(to: $0.end ?? time.now) }
        values.retries = max(0, attempts.count - 1 - hops.count)
        values.redirects = hops.count
        values.redirected = hops.reduce(.zero) { $0 + $1.start.duration(to: $1.end ?? $1.start) }
        values.redirectURL = last?.redirectURL ?? ""
        values.referer = sent.headerFields[.referer] ?? ""
        return values
    }
}
