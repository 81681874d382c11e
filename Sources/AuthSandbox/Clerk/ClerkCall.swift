import HTTPRecovery
import HTTPRecoveryTesting

/// One request on its way through the API: what it brought, what all providers share, and what the answer will carry.
final class ClerkCall {
    let request: SandboxRequest
    /// The method and the path after `/v1` with `{id}` for the id: what the router looks at.
    let route: String
    /// The id in the path.
    let id: String
    /// The step that the path names: the first one unless it says so.
    let step: ClerkStep
    let form: [FormEncoding.Field]
    let isNative: Bool
    /// The client token that came along.
    let presentedToken: String?
    var context: SandboxContext
    var client: String?
    /// What the answer says about the client token: nil is nothing, blank is to forget it.
    var tokenHeader: String?
    /// Where the answer sends the browser, instead of telling anything.
    var redirect: String?
    /// What the browser is shown, instead.
    var page: String?

    var now: Int64 { context.now }
    var settings: SandboxSettings { context.settings }
    var host: String { request.header("host") ?? "sandbox.invalid" }

    /// Nil for a path without `/v1`.
    init?(_ request: SandboxRequest, _ context: SandboxContext) {
        let segments = request.segments
        guard let version = segments.firstIndex(of: "v1") else { return nil }
        var parts = Array(segments[(version + 1)...])
        let collections = [
            "client/sign_ins", "client/sign_ups", "client/sessions", "me/sessions", "me/phone_numbers",
            "me/organization_invitations", "me/passkeys", "me/trusted_devices", "me/email_addresses",
        ]
        let hasID =
            parts.count > 2 && collections.contains("\(parts[0])/\(parts[1])") && !Self.words.contains(parts[2])
        id = hasID ? parts[2] : ""
        if hasID { parts[2] = "{id}" }
        let tunnelled = request.method == "POST" ? request.queryItem("_method")?.uppercased() : nil
        route = "\(tunnelled ?? request.method) \(parts.joined(separator: "/"))"
        step = route.hasSuffix("_second_factor") ? .second : .first
        self.request = request
        self.context = context
        form = FormEncoding.fields(request.body)
        isNative = ["true", "1"].contains(request.queryItem("_is_native"))
        presentedToken = isNative ? Self.bearer(request) : Self.cookie(request)
    }

    /// What stands where an id would, and is none.
    private static let words = ["active", "prepare", "attempt"]

    /// The first value of a form field; nil when it is absent.
    func field(_ name: String) -> String? { form.first { $0.name == name }?.value }

    /// The strategy that the form names; blank for none.
    var strategy: String { field("strategy") ?? "" }

    /// A field that has to be there and not empty.
    func required(_ name: String) throws(ClerkFailure) -> String {
        guard let value = field(name) else { throw .missing(name) }
        guard !value.isEmpty else { throw .null(name) }
        return value
    }

    /// Sends a code or a link to somebody, now or later.
    func send(_ code: String, to address: String, for id: String, at time: Int64? = nil) {
        let channel = strategy.hasSuffix("phone_code") ? "phone" : "email"
        context.send(
            .init(to: address, channel: channel, strategy: strategy, code: code, sentAt: time ?? now, signIn: id)
        )
    }

    /// What `Authorization` holds, with or without `Bearer`; nil for nothing.
    static func bearer(_ request: SandboxRequest) -> String? {
        guard let value = request.header("authorization") else { return nil }
        let words = value.split(separator: " ", maxSplits: 1)
        if words.first?.lowercased() == "bearer" { return words.count > 1 ? String(words[1]) : nil }
        return value.isEmpty ? nil : value
    }

    private static func cookie(_ request: SandboxRequest) -> String? {
        let pairs = request.headers.filter { $0.name == "cookie" }.flatMap { $0.value.split(separator: ";") }
        let halves = pairs.map { $0.split(separator: "=", maxSplits: 1) }
        let own = halves.first { $0.count == 2 && $0[0].drop { $0 == " " } == "__client" }
        return own.map { String($0[1]) }
    }
}
