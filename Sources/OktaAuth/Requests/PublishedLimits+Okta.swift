public import HTTPRecovery
import HTTPTypes

extension Recovery.PublishedLimits {
    /// The rate that Okta publishes for a person's name: 4 requests a second to `/api/v1/authn` and to a token endpoint.
    ///
    /// It holds for calls that say whose account they open (`RequestOptions.account`), as sign-ins do. Give it to the
    /// client's `Recovery` as an admission. What an organisation may send in all depends on its plan:
    /// `Recovery.AnnouncedLimits(per: .endpoint)` heeds what Okta says of it.
    ///
    /// - Parameter rate: How many requests there may be for a name. Default: 4 in a second.
    public static func okta(perName rate: Rate = Rate(4, per: .seconds(1))) -> Recovery.PublishedLimits {
        Recovery.PublishedLimits { attempt, options in
            let path = attempt.request.pathWithoutQuery
            guard let account = options.account, attempt.request.method == .post,
                path == "/api/v1/authn" || (path.hasPrefix("/oauth2/") && path.hasSuffix("/v1/token"))
            else { return nil }
            return ("\(path) \(Fingerprint.text(of: account))", rate)
        }
    }
}
