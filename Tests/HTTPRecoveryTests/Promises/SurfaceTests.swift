import Testing

/// The public names: few, and none that a file with other packages' imports could mean otherwise.
@Suite struct SurfaceTests {
    /// How many public types may stand at the top of a module.
    private static let limits = ["HTTPRecovery": 45, "AuthRecovery": 45]

    /// What Foundation, swift-http-types, swift-openapi-runtime, Hummingbird, Vapor, swift-log and AsyncHTTPClient have at
    /// their top and a file about HTTP is likely to use.
    private static let taken: Set<String> = [
        "Response", "Request", "Middleware", "HTTPBody", "HTTPClient", "HTTPRequest", "HTTPResponse", "HTTPField",
        "HTTPFields", "ClientTransport", "ClientMiddleware", "ServerTransport", "ServerMiddleware", "Operation",
        "URLRequest", "URLResponse", "URLSession", "URL", "Data", "Date", "Logger", "LogHandler", "Router",
        "Application",
        "Client", "ClientRequest", "ClientResponse", "Environment", "Cookie", "Cookies", "URI", "Content", "Body",
        "ResponseBody", "RequestBody", "RequestContext", "HTTPError", "Authenticator", "Session", "Progress",
        "Host",
        "Port", "Stream", "Thread", "Timer", "Lock", "Process", "Notification", "Measurement", "Unit", "Locale",
        "Scanner", "CallbackResponder",
        "HTTPHeaders", "HTTPMethod", "HTTPStatus", "ByteBuffer", "EventLoop", "Channel", "Validatable", "Parameters",
    ]

    private static let keywords: Set<Substring> = ["struct", "enum", "class", "protocol", "actor", "typealias"]

    /// The public types at the top of each module.
    private static func types() throws -> [String: Set<String>] {
        var types: [String: Set<String>] = [:]
        for (path, text) in try LibrarySources.all() {
            let module = String(path.prefix { $0 != "/" })
            for line in text.split(separator: "\n") where !line.hasPrefix(" ") {
                let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
                guard let level = words.firstIndex(of: "public"),
                    let keyword = words.firstIndex(where: { keywords.contains($0) }), level < keyword,
                    keyword + 1 < words.count
                else { continue }
                types[module, default: []].insert(String(words[keyword + 1]))
            }
        }
        return types
    }

    @Test func modulesHaveFewPublicTypes() throws {
        let types = try Self.types()
        for (module, limit) in Self.limits {
            let names = try #require(types[module])
            #expect(names.count > 20, "they are found")
            #expect(names.count <= limit, "\(module): \(names.sorted())")
        }
    }

    @Test func noPublicNameIsTaken() throws {
        for (module, names) in try Self.types() {
            #expect(names.intersection(Self.taken) == [], "\(module)")
        }
    }
}
