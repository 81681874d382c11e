import AuthRecovery
import Hummingbird

/// The two cookies of a sign-in; no script can read them, and no other site's page makes a browser send them.
///
/// Only while the user is at another provider a link from there does: the browser comes back by one. What it brings back is of
/// use to the sign-in of this browser alone. Over TLS their names say that nothing but this host has set them (`__Host-`), no
/// neighbour of its domain and nobody on the way.
struct SignInCookies: Sendable {
    /// Whether they go over TLS alone.
    let isSecure: Bool
    /// Whether the user is at another provider.
    var isElsewhere = false

    private static let browser = "browser"
    private static let ticket = "sign_in"

    /// The browser that sends a request; nil if it has none of our cookies yet.
    func browser(in request: Request) -> Secret? {
        request.cookies[name(Self.browser)].map { Secret($0.value) }
    }

    /// The ticket of the sign-in under way.
    func ticket(in request: Request) -> Secret? {
        request.cookies[name(Self.ticket)].map { Secret($0.value) }
    }

    /// Keeps a browser known for a year.
    func browser(_ browser: Secret) -> Cookie {
        cookie(Self.browser, browser.reveal(), age: 365 * 86_400)
    }

    /// Keeps the ticket; nil forgets it.
    func ticket(_ ticket: Secret?) -> Cookie {
        cookie(Self.ticket, ticket?.reveal() ?? "", age: ticket == nil ? 0 : 3600)
    }

    private func name(_ word: String) -> String { isSecure ? "__Host-\(word)" : word }

    private func cookie(_ word: String, _ value: String, age: Int) -> Cookie {
        Cookie(
            name: name(word),
            value: value,
            maxAge: age,
            // What the name of a cookie of this host alone promises.
            path: "/",
            secure: isSecure,
            httpOnly: true,
            sameSite: isElsewhere ? .lax : .strict
        )
    }
}
