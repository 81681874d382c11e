import HTTPRecovery
import Testing

@Suite("Texts for a person")
struct SentenceTests {
    @Test(arguments: [
        "", "signed_out", "SIGNED_OUT", "_", "invalidGrant", "OAuthException", "E0000004", "api.error_code", "x:y_z",
    ])
    func aBareCodeIsNone(text: String) {
        #expect(text.sentence == nil)
    }

    @Test(arguments: [
        "Locked", "locked", "Locked.", "The field user_name is wrong.", "42", "123456", "ABCD-EFGH", "Gesperrt!",
        "口座はロックされています", "l", "Wrong\ncode",
    ])
    func anythingElseIsOne(text: String) {
        #expect(text.sentence == text)
    }
}
