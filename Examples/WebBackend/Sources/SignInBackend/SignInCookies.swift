import AuthRecovery
import Hummingbird

/// The two cookies of a sign-in; no script can read them, and no other site's page makes a browser send them.
///
/// Only while the user is at another provider a link from there does: the browser comes back by one. What it brings
/// back is of use to the sign-in of this browser alone. Over TLS their names (`__Host-`) say that this host has set
/// them, and neither a neighbour in its domain nor somebody on the way.
struct SignInCookies: Sendable {
    /// Whether they go over TLS alone.
    let isSecure: Bool
    /// Whether the user is at another provider.
    var isElsewhere = false

    private static let browser = "browser"
    private static let ticket = "sign_in"
    /// Stands before a ticket whose step is answered by coming back: the ticket is for that step alone.
    private static let elsewhere = "elsewhere."

    /// The browser that sends a request; nil if it has none of our cookies yet.
    func browser(in request: Request) -> Secret? {
        request.cookies[name(Self.browser)].map { Secret($0.value) }
    }

    /// The ticket of the sign-in under way.
    func ticket(in request: Request) -> Secret? {
        guard let value = request.cookies[name(Self.ticket)]?.value else { return nil }
        return Secret(value.hasPrefix(Self.elsewhere) ? String(value.dropFirst(Self.elsewhere.count)) : value)
    }

    /// Whether that ticket is one for the way back from another provider.
    func isTicketForTheWayBack(in request: Request) -> Bool {
        request.cookies[name(Self.ticket)]?.value.hasPrefix(Self.elsewhere) ?? false
    }

    /// Keeps a browser known for a year.
    func browser(_ browser: Secret) -> Cookie {
        cookie(Self.browser, browser.reveal(), age: 365 * 86_400)
    }

    /// Keeps the ticket; nil forgets it.
    func ticket(_ ticket: Secret?) -> Cookie {
        let value = ticket.map { (isElsewhere ? Self.elsewhere : "") + $0.reveal() }
        return cookie(Self.ticket, value ?? "", age: ticket == nil ? 0 : 3600)
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
