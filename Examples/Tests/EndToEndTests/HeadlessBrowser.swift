import AuthSandbox
import CurlTransport
import Foundation
import HTTPRecovery
import HTTPTypes
import Testing

/// A real browser without a window, driven by WebDriver (W3C Recommendation, June 2018).
struct HeadlessBrowser: Sendable {
    private let client: RecoveringClient
    private let session: String

    /// Whether there is one; `apt-get install chromium chromium-driver` brings it.
    static let isInstalled = ["chromium", "chromedriver"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    /// Runs the function with a browser of its own, whose profile stands in the directory.
    static func run(in directory: String, _ body: (HeadlessBrowser) async throws -> Void) async throws {
        let output = directory + "/chromedriver"
        try write("", to: output)
        let driver = Process()
        driver.executableURL = URL(filePath: "/usr/bin/chromedriver")
        driver.arguments = ["--port=0"]
        driver.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        driver.standardError = FileHandle.nullDevice
        try driver.run()
        // It does not heed SIGTERM.
        defer { _ = kill(driver.processIdentifier, SIGKILL) }
        let transport = CurlTransport()
        let result: Result<Void, any Error>
        do {
            let browser = try await HeadlessBrowser(port: port(writtenTo: output), transport, directory)
            do { result = .success(try await body(browser)) } catch { result = .failure(error) }
            // Its windows end with it.
            _ = try? await browser.call(.delete, "")
        } catch {
            result = .failure(error)
        }
        await transport.shutdown()
        try result.get()
    }

    private static func port(writtenTo path: String) async throws -> Int {
        while true {
            let words = contents(of: path).components(separatedBy: "successfully on port ").dropFirst()
            if let word = words.first, let end = word.firstIndex(of: "."), let port = Int(word[..<end]) { return port }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private init(port: Int, _ transport: CurlTransport, _ directory: String) async throws {
        client = RecoveringClient(transport: transport) { AttemptTimeout(.seconds(300)) }
        let arguments: JSONValue = [
            "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
            .string("--user-data-dir=\(directory)/profile"),
        ]
        let answer = try await Self.post(
            client,
            "http://127.0.0.1:\(port)/session",
            ["capabilities": ["alwaysMatch": ["goog:chromeOptions": ["args": arguments]]]]
        )
        session = "http://127.0.0.1:\(port)/session/\(try #require(answer["sessionId"]?.string))"
    }

    /// Goes to a page, and waits until it is there.
    func open(_ url: String) async throws {
        _ = try await call(.post, "/url", ["url": .string(url)])
    }

    /// Clicks what a CSS selector finds.
    func click(_ selector: String) async throws {
        _ = try await call(.post, "/element/\(element(selector))/click")
    }

    /// Writes into what a CSS selector finds, in place of what stands there.
    func type(_ text: String, into selector: String) async throws {
        let element = try await element(selector)
        _ = try await call(.post, "/element/\(element)/clear")
        _ = try await call(.post, "/element/\(element)/value", ["text": .string(text)])
    }

    /// Waits until the page shows a text.
    func waits(for text: String) async throws {
        while try await call(.get, "/element/\(element("body"))/text", orIfGone: "").string != text {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until what a CSS selector finds shows a text among others.
    func waits(for selector: String, toShow text: String) async throws {
        while try await call(.get, "/element/\(element(selector))/text", orIfGone: "").string?.contains(text) != true {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Whether a CSS selector finds anything now.
    func has(_ selector: String) async throws -> Bool {
        let query: JSONValue = ["using": "css selector", "value": .string(selector)]
        return try await call(.post, "/element", query, orIfGone: .null) != .null
    }

    /// Waits for an element: the page may be on its way.
    private func element(_ selector: String) async throws -> String {
        while true {
            let query: JSONValue = ["using": "css selector", "value": .string(selector)]
            if let id = try await call(.post, "/element", query, orIfGone: .null).members?.first?.value.string {
                return id
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Performs a command; what is not there, or not any more, is told by the default.
    private func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: JSONValue = [:],
        orIfGone absence: JSONValue
    ) async throws -> JSONValue {
        do {
            return try await call(method, path, body)
        } catch let error as RecoveryError where error.kind == .notFound {
            return absence
        }
    }

    private func call(_ method: HTTPRequest.Method, _ path: String, _ body: JSONValue = [:]) async throws -> JSONValue {
        if method == .post { return try await Self.post(client, session + path, body) }
        let response = try await client.send(HTTPRequest(method: method, url: session + path))
        return try JSONValue(parsing: try await response.body.collect(upTo: 1 << 20))["value"] ?? .null
    }

    private static func post(_ client: RecoveringClient, _ url: String, _ body: JSONValue) async throws -> JSONValue {
        let request = try HTTPRequest(method: .post, url: url, headerFields: [.contentType: "application/json"])
        let response = try await client.send(request, body: MessageBody(body.description))
        return try JSONValue(parsing: try await response.body.collect(upTo: 1 << 20))["value"] ?? .null
    }
}
