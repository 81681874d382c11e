import CurlTransport
import HTTPRecovery
import HTTPTypes
import Testing

/// A browser, as far as a backend sees it: it sends the cookies that it was given.
actor Browser {
    /// A page that it was answered.
    struct Page: Sendable {
        var status: Int
        var json: JSONValue
        var retryAfter: String?
        /// Where the browser is sent.
        var location: String?

        var asked: String? { json["ask"]?["key"]?.string }
        var session: String? { json["signedIn"]?.string }
    }

    private let client = RecoveringClient(transport: CurlTransport()) {}
    private(set) var cookies: [String: String] = [:]
    /// The fields that set cookies, as they came last.
    private(set) var setCookies: [String] = []

    func post(_ path: String, _ body: JSONValue, to backend: Backend) async throws -> Page {
        try await send(.post, path, body, to: backend)
    }

    func answer(_ text: String, at backend: Backend) async throws -> Page {
        try await post("/sign-in/answer", ["answer": .string(text)], to: backend)
    }

    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: JSONValue,
        fields: [String: String] = [:],
        to backend: Backend
    ) async throws -> Page {
        var request = try HTTPRequest(url: backend.url + path)
        request.method = method
        request.headerFields[.contentType] = "application/json"
        for (name, value) in fields { request.headerFields[try #require(HTTPField.Name(name))] = value }
        if !cookies.isEmpty {
            request.headerFields[.cookie] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        }
        let response: RecoveredResponse
        do {
            response = try await client.send(request, body: MessageBody(body.description))
        } catch let error as RecoveryError {
            response = try #require(error.response)
        }
        setCookies = response.headerFields[values: .setCookie]
        for field in setCookies {
            let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            cookies[String(pair[0])] = pair.count == 2 ? String(pair[1]) : nil
        }
        let bytes = try await response.body.collect(upTo: 1 << 20)
        // What is refused before it gets to an endpoint has no page.
        let json = bytes.isEmpty ? .null : (try? JSONValue(parsing: bytes)) ?? .null
        return Page(
            status: response.status.code,
            json: json,
            retryAfter: response.headerFields[.retryAfter],
            location: response.headerFields[.location]
        )
    }

    /// Opens a page of the backend's.
    func get(_ path: String, from backend: Backend) async throws -> Page {
        try await send(.get, path, .null, to: backend)
    }

    init(cookies: [String: String] = [:]) {
        self.cookies = cookies
    }

    /// The same browser, in another window; or another one that has come by some of its cookies.
    func window(with others: [String: String] = [:]) -> Browser {
        Browser(cookies: cookies.merging(others) { $1 })
    }
}
