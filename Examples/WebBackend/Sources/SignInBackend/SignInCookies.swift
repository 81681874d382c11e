import AuthRecovery
import Hummingbird

/// The two cookies of a sign-in; no script can read them, and no other site's page makes a browser send them.
///
/// Only while the user is at another provider a link from there does: the browser comes back by one. What it brings back is of
/// use to the sign-in of this browser alone.
struct SignInCookies: Sendable {
    /// Whether they go over TLS alone.
    let isSecure: Bool
    /// Whether the user is at another provider.
    var isElsewhere = false

    private static let browser = "browser"
    private static let ticket = "sign_in"

    /// What tells a browser from all others: 256 random bits.
    static func newBrowser() -> Secret {
        var random = SystemRandomNumberGenerator()
        return Secret((0..<4).map { _ in String(random.next() as UInt64, radix: 36) }.joined(separator: "-"))
    }

    /// The browser that sends a request; nil if it has none of our cookies yet.
    func browser(in request: Request) -> Secret? {
        request.cookies[Self.browser].map { Secret($0.value) }
    }

    /// The ticket of the sign-in under way.
    func ticket(in request: Request) -> Secret? {
        request.cookies[Self.ticket].map { Secret($0.value) }
    }

    /// Keeps a browser known for a year.
    func browser(_ browser: Secret) -> Cookie {
        cookie(Self.browser, browser.reveal(), age: 365 * 86_400)
    }

    /// Keeps the ticket; nil forgets it.
    func ticket(_ ticket: Secret?) -> Cookie {
        cookie(Self.ticket, ticket?.reveal() ?? "", age: ticket == nil ? 0 : 3600)
    }

    private func cookie(_ name: String, _ value: String, age: Int) -> Cookie {
        Cookie(
            name: name,
            value: value,
            maxAge: age,
            path: "/sign-in",
            secure: isSecure,
            httpOnly: true,
            sameSite: isElsewhere ? .lax : .strict
        )
    }
}
