import AuthRecovery
import Foundation
import HTTPRecovery
import HTTPTypes
import Hummingbird
import Logging

extension Gateway {
    /// How many resources one request may ask for.
    private static var mostNames: Int { 20 }

    /// The endpoints: `GET /resources/NAME`, `GET /resources?names=A,B`, and what looks after the service.
    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: AccessLog())
        router.get("health/live") { _, _ in
            Self.json(["status": "alive"], .ok)
        }
        router.get("health/ready") { _, _ in
            let report = await readiness()
            return Self.json(report.json, report.isReady ? .ok : .serviceUnavailable)
        }
        router.get("metrics") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text))
            )
        }
        router.get("resources/:name") { _, context in
            // A path comes as it was sent, and a query decoded.
            switch try await answer(context.parameters.require("name").removingPercentEncoding ?? "") {
            case .success(let resource): return Self.json(resource, .ok)
            case .failure(let refusal): return refusal.response
            }
        }
        router.get("resources") { request, _ in
            let names = (request.uri.queryParameters["names"] ?? "").split(separator: ",").map(String.init)
            guard (1...Self.mostNames).contains(names.count) else {
                throw HTTPError(
                    .badRequest,
                    message: "names has 1 to \(Self.mostNames) names, with commas between them."
                )
            }
            return try await together(Set(names))
        }
        return router
    }

    /// Reads several resources at once; those that cannot be had stand beside the others.
    private func together(_ names: Set<String>) async throws -> Response {
        let answers = try await withThrowingTaskGroup(of: (String, Result<JSONValue, Refusal>).self) { group in
            for name in names {
                group.addTask { (name, try await answer(name)) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var (resources, failed, refusals): ([JSONValue.Member], [JSONValue.Member], [Refusal]) = ([], [], [])
        for (name, answer) in answers.sorted(by: { $0.key < $1.key }) {
            switch answer {
            case .success(let resource): resources.append(JSONValue.Member(name, resource))
            case .failure(let refusal):
                failed.append(JSONValue.Member(name, refusal.json))
                refusals.append(refusal)
            }
        }
        if resources.isEmpty, let refusal = refusals.first { return refusal.response }
        return Self.json(["resources": .object(resources), "failed": .object(failed)], .ok)
    }

    /// Reads a resource, or says in HTTP's words why it cannot be had.
    private func answer(_ name: String) async throws -> Result<JSONValue, Refusal> {
        // Behind a path these two are no names but steps in it.
        guard !["", ".", ".."].contains(name) else {
            return .failure(
                Refusal(status: .badRequest, error: "invalid_request", message: "This is no resource's name.")
            )
        }
        do {
            return .success(try await resource(name))
        } catch let error as RecoveryError {
            return .failure(Refusal(error))
        } catch let error as JSONValue.ParseError {
            return .failure(unreadable(error, "The API's answer is no JSON."))
        } catch let error as MessageBody.ReadError {
            return .failure(unreadable(error, "The API's answer is larger than can be taken."))
        } catch let error as TransportError {
            // The answer had begun: nobody has sent the request again.
            logger.warning("An answer has broken off", metadata: ["problem": "\(error)"])
            // Cut off at the end of the service: another instance can make the call.
            let status: HTTPResponse.Status = error.code == .shutDown ? .serviceUnavailable : .badGateway
            return .failure(Refusal(status: status, error: "transport", message: "The API's answer has broken off."))
        }
    }

    private func unreadable(_ error: any Error, _ message: String) -> Refusal {
        logger.warning("An answer cannot be read", metadata: ["problem": "\(error)"])
        return Refusal(status: .badGateway, error: "unreadable", message: message)
    }

    fileprivate static func json(_ json: JSONValue, _ status: HTTPResponse.Status) -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: json.description))
        )
    }
}

/// Why a resource cannot be had.
private struct Refusal: Error {
    var status: HTTPResponse.Status
    var error: String
    var message: String
    var retryAfter: Duration?

    var json: JSONValue { ["error": .string(error), "message": .string(message)] }

    var response: Response {
        var response = Gateway.json(json, status)
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter.components.seconds + 1) }
        return response
    }
}

extension Refusal {
    init(_ failure: RecoveryError) {
        let status: HTTPResponse.Status =
            switch failure.kind {
            case .notFound: .notFound
            case .permissionDenied: .forbidden
            case .invalidRequest: .badRequest
            // Cut off at the end of the service: another instance can make the call.
            case _ where failure.reason == .clientShutDown || failure.outcome.transportError?.code == .shutDown:
                .serviceUnavailable
            // Its store does not answer, and nothing was read before.
            case _ where failure.cause is Credentials.StoreError: .serviceUnavailable
            case .rateLimited, .quotaExhausted, .unavailable, .transport: .serviceUnavailable
            case .timedOut: .gatewayTimeout
            default: .badGateway
            }
        self.init(
            status: status,
            error: failure.kind.rawValue,
            message: failure.userMessage,
            retryAfter: failure.retryAfter
        )
    }
}
