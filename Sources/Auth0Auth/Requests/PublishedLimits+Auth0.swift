public import HTTPRecovery
import HTTPTypes

extension Recovery.PublishedLimits {
    /// The rates that Auth0 publishes for all plans ("Rate limit policy"): a person's profile 10 times and then 5 times a
    /// minute, 50 codes or links in an hour and 5 device logins a second from one address.
    ///
    /// Give it to the client's `Recovery` as an admission, and share one value among all clients that leave by one address.
    /// The tenant lets a burst pass and then so many in a time; a time in which the burst would be refilled never asks for more
    /// than that. What a tenant may send in all depends on its plan: `Recovery.AnnouncedLimits(per: .endpoint)` heeds what it
    /// says of that. The limit for mails that reset a password is counted by their address, which nobody sees here.
    ///
    /// - Parameters:
    ///   - profile: How often a person's profile (`/userinfo`) is asked for. Default: 10 times in 2 minutes for each credential.
    ///   - codes: How many codes and links are sent in place of a password. Default: 50 in an hour.
    ///   - devices: How many device logins are begun. Default: 5 in a second.
    public static func auth0(
        profile: Rate = Rate(10, per: .seconds(120), isPerCredential: true),
        codes: Rate = Rate(50, per: .seconds(3600)),
        devices: Rate = Rate(5, per: .seconds(1))
    ) -> Recovery.PublishedLimits {
        // By their ends: a tenant may stand below a path.
        let rates = [
            ("/userinfo", profile), ("/passwordless/start", codes), ("/otp/challenge", codes),
            ("/oauth/device/code", devices),
        ]
        return Recovery.PublishedLimits { attempt, _ in
            let path = attempt.request.pathWithoutQuery
            return rates.first { path.utf8.reversed().starts(with: $0.0.utf8.reversed()) }
        }
    }
}
