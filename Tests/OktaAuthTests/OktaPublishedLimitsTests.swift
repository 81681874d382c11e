import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

/// Keeping within the published rates.
@Suite struct OktaPublishedLimitsTests {
    @Test(arguments: [
        ("/api/v1/authn", "ada", 4), ("/oauth2/default/v1/token", "ada", 4), ("/oauth2/v1/token?x=1", "ada", 4),
        ("/api/v1/authn", nil, 9), ("/api/v1/users", "ada", 9),
    ])
    func aNameHasItsRate(path: String, account: String?, count: Int) async throws {
        let limits = Recovery.PublishedLimits.okta()
        let request = HTTPRequest(method: .post, scheme: "https", authority: "example.okta.com", path: path)
        var options = RequestOptions()
        options.account = account
        let context = CallContext(options: options, runtime: Runtime(time: ManualClock().timeSource()))
        var free = 0
        for _ in 0..<9 {
            switch await limits.admit(PlannedAttempt(request), context: context) {
            case .go, .wait(.zero, _, _): free += 1
            default: break
            }
        }
        #expect(free == count)
        // Another's is another line.
        options.account = "grace"
        let other = CallContext(options: options, runtime: context.runtime)
        guard case .wait(let delay, _, _) = await limits.admit(PlannedAttempt(request), context: other) else { return }
        #expect(delay == .zero)
    }
}
