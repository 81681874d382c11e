import HTTPRecoveryTesting

/// The page that shows the sandbox in a browser, and does everything by the control endpoints.
enum SandboxPage {
    /// The page or a file of it; nil for another request.
    ///
    /// `GET /_sandbox/` is the list of endpoints to everybody but a browser.
    static func file(for request: SandboxRequest) -> SandboxResponse? {
        guard ["GET", "HEAD"].contains(request.method) else { return nil }
        let file: (bytes: [UInt8], type: String)
        switch request.segments.dropFirst().joined(separator: "/") {
        case "" where request.header("accept")?.contains("text/html") ?? false:
            file = (PackageResources.page_html, "text/html; charset=utf-8")
        case "page.css": file = (PackageResources.page_css, "text/css; charset=utf-8")
        case "page.js": file = (PackageResources.page_js, "text/javascript; charset=utf-8")
        default: return nil
        }
        guard ControlGuard.mayShowPage(to: request) else {
            return .text("The page is shown on the sandbox's own machine alone, at 127.0.0.1.\n", status: 403)
        }
        var response = SandboxResponse(
            status: 200,
            headers: [
                .init(name: "Content-Type", value: file.type), .init(name: "Content-Security-Policy", value: policy),
                .init(name: "X-Content-Type-Options", value: "nosniff"),
                .init(name: "Referrer-Policy", value: "no-referrer"), .init(name: "Cache-Control", value: "no-store"),
                .init(name: "Vary", value: "Accept"),
            ]
        )
        response.body = file.bytes
        return response
    }

    /// Nothing from elsewhere, nothing inline, and in no frame, where a click could be meant for something else.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'
        """
}
