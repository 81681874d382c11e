import HTTPRecovery
import HTTPRecoveryTesting

// Several requests at once.
extension FacebookWorld {
    /// The most items of a batch.
    private static let maximumItems = 50

    mutating func batch(
        _ exchange: FacebookExchange,
        context: inout SandboxContext
    ) -> SandboxResponse {
        do throws(FacebookFailure) {
            guard let text = exchange.value("batch"), let items = (try? JSONValue(parsing: text))?.array else {
                throw FacebookFailure.parameter("batch has to be a list")
            }
            guard items.count <= Self.maximumItems else {
                throw FacebookFailure.parameter("Too many requests in batch message. Maximum batch size is 50")
            }
            // The token of the batch is looked at before anything is done.
            if exchange.token != nil { _ = try admittedPrincipal(of: exchange) }
            counters.batches += 1
            var results: [String: JSONValue] = [:]
            var answers: [JSONValue] = []
            for item in items {
                answers.append(answer(item, exchange, &results, context: &context))
            }
            return .json(.array(answers))
        } catch {
            return response(of: error, exchange.settings)
        }
    }

    private mutating func answer(
        _ item: JSONValue,
        _ exchange: FacebookExchange,
        _ results: inout [String: JSONValue],
        context: inout SandboxContext
    ) -> JSONValue {
        if unfinishedItems > 0 {
            unfinishedItems -= 1
            return .null
        }
        // One that needs another is not run without it.
        if Self.namesNeeded(by: item).contains(where: { results[$0] == nil }) { return .null }
        let request = request(for: item, exchange, results)
        var answer = SandboxResponse(status: 0)
        let fault = context.faults.take(for: request)
        let route = FacebookRoute.find(request.path, method: request.method)
        if fault?.processes ?? true, let route, !route.parts.isEmpty || request.method == "GET" {
            answer = self.answer(FacebookExchange(request, route, context: context), context: &context)
        } else if fault == nil {
            answer = response(of: .missingObject, exchange.settings)
        }
        if let fault {
            let reply = fault.applied(to: answer, now: context.now) { status in
                error(fault, status: status, form: nil, to: request, context: context)
            }
            guard reply.delivery == .whole else { return .null }
            answer = reply.response
        }
        if let name = item["name"]?.string, (200..<300).contains(answer.status) {
            results[name] = answer.jsonBody ?? .null
            if item["omit_response_on_success"]?.bool ?? true { return .null }
        }
        let isText = exchange.settings.writesCodesAsText
        var view: JSONValue = ["code": isText ? .string(String(answer.status)) : .int(Int64(answer.status))]
        if exchange.value("include_headers") != "false" {
            let headers: [JSONValue] = answer.headers.map { ["name": .string($0.name), "value": .string($0.value)] }
            view = view.adding("headers", .array(headers))
        }
        return view.adding("body", .string(String(decoding: answer.body, as: UTF8.self)))
    }

    /// An item as a request of its own, with the token of the batch unless it has one.
    private func request(
        for item: JSONValue,
        _ exchange: FacebookExchange,
        _ results: [String: JSONValue]
    ) -> SandboxRequest {
        let path = Self.filledIn(item["relative_url"]?.string ?? "", results)
        let body = Self.filledIn(item["body"]?.string ?? "", results)
        let isVersioned = FacebookRoute.find("/" + path, method: "GET")?.version != nil
        var target = (isVersioned ? "/" : "/\(exchange.version ?? "v25.0")/") + path.drop { $0 == "/" }
        var headers = [SandboxRequest.Header(name: "host", value: exchange.host)]
        if !body.isEmpty {
            headers.append(.init(name: "content-type", value: "application/x-www-form-urlencoded"))
        }
        let hasOwn = (target + "&" + body).contains("access_token=")
        if !hasOwn, let token = exchange.token {
            headers.append(.init(name: "authorization", value: "Bearer \(token)"))
            if let proof = exchange.value("appsecret_proof") {
                target += (target.contains("?") ? "&" : "?") + "appsecret_proof=\(FormEncoding.encode(proof))"
            }
        }
        let method = item["method"]?.string?.uppercased() ?? "GET"
        return SandboxRequest(method: method, target: target, headers: headers, body: Array(body.utf8))
    }

    /// The names of the items that one needs: to run at all, or for its texts.
    private static func namesNeeded(by item: JSONValue) -> [String] {
        var names = [item["depends_on"]?.string].compactMap(\.self)
        for text in [item["relative_url"]?.string, item["body"]?.string].compactMap(\.self) {
            var rest = text[...]
            while let start = rest.firstRange(of: "{result=") {
                rest = rest[start.upperBound...]
                names.append(String(rest.prefix { $0 != ":" && $0 != "}" }))
            }
        }
        return names
    }

    /// A text with `{result=name:$.member}` replaced by what another item has answered.
    private static func filledIn(_ text: String, _ results: [String: JSONValue]) -> String {
        var out = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "{result="), let end = rest[start.upperBound...].firstIndex(of: "}") {
            out += rest[..<start.lowerBound]
            let halves = rest[start.upperBound..<end].split(separator: ":", maxSplits: 1)
            let steps = halves.count == 2 ? halves[1].split { ".[]".contains($0) }.dropFirst().map(String.init) : []
            let result = halves.first.flatMap { results[String($0)] }
            out += result.map { values(in: [$0], steps[...]) }?.joined(separator: ",") ?? ""
            rest = rest[rest.index(after: end)...]
        }
        return out + rest
    }

    private static func values(in list: [JSONValue], _ steps: ArraySlice<String>) -> [String] {
        guard let step = steps.first else { return list.map { $0.string ?? $0.text } }
        let next = list.flatMap { value -> [JSONValue] in
            if step == "*" { return value.array ?? [] }
            if let index = Int(step) { return value[index].map { [$0] } ?? [] }
            return value[step].map { [$0] } ?? []
        }
        return values(in: next, steps.dropFirst())
    }
}
