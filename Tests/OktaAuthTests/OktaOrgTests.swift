import HTTPRecovery
import Testing

@Suite("The URL of an org")
struct OktaOrgTests {
    @Test(arguments: ["https://x?x=1", "https://x/?", "https://x/api/v1?x=1", "https://x#y", "https://x/#"])
    func oneWithAQueryOrAFragmentIsNone(url: String) {
        #expect(throws: Origin.InvalidURL.self) { try OktaBench(url: url) }
    }
}
