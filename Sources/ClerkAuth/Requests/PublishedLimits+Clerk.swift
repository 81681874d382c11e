public import HTTPRecovery
import HTTPTypes

extension Recovery.PublishedLimits {
    /// The rates that Clerk publishes for an address (its guide "System limits"): 5 sign-ins and 5 sign-ups begun in 10 s,
    /// and 3 attempts at each.
    ///
    /// Share one value among all `Clerk` values that leave by one address.
    ///
    /// - Parameters:
    ///   - begun: How many sign-ins, and how many sign-ups, are begun. Default: 5 in 10 s.
    ///   - attempted: How many factors of sign-ins, and verifications of sign-ups, are attempted. Default: 3 in 10 s.
    public static func clerk(
        begun: Rate = Rate(5, per: .seconds(10)),
        attempted: Rate = Rate(3, per: .seconds(10))
    ) -> Recovery.PublishedLimits {
        let rates = [
            "create sign-in": begun, "create sign-up": begun, "attempt sign-in": attempted,
            "attempt sign-up": attempted,
        ]
        return Recovery.PublishedLimits { attempt, _ in
            let name = ClerkEndpoint(method: attempt.request.method, path: attempt.request.pathWithoutQuery).className
            return rates[name].map { (name, $0) }
        }
    }
}
