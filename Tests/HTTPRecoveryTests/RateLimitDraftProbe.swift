import HTTPTypes

@testable import HTTPRecovery

/// A look at the policies that the core reads and does not publish.
enum RateLimitDraftProbe {
    static func windows(_ policy: String) -> Double? {
        let fields = RateLimitFields(fields([("RateLimit-Policy", policy), ("RateLimit", #""hour";r=0"#)]))
        return fields.window(ofPolicies: [])?.inSeconds
    }
}
