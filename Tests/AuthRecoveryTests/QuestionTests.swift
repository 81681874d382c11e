import AuthRecovery
import HTTPRecovery
import Testing

/// What a person is asked, in words.
@Suite struct QuestionTests {
    private static let to = "k***@example.com"

    private static let questions: [(Factor.Key, String?, String?, String)] = [
        (.emailCode, to, "Enter it", "Code by e-mail sent to k***@example.com"),
        (.emailCode, nil, nil, "Code by e-mail"), (.phoneCode, "+49…56", nil, "Code by phone sent to +49…56"),
        // Where nothing is sent, the destination is what the person calls the factor.
        (.totp, "my phone", "Code?", "Code of the authenticator app"), (.password, to, nil, "Password"),
        // Only the provider knows what it asks.
        (.securityAnswer, "q", "Your first dog?", "Your first dog?"), (.text, nil, "Department", "Department"),
        (.choice, nil, "Which way?", "Which way?"), (.text, nil, "", "Answer"), (.securityAnswer, nil, nil, "Answer"),
    ]

    @Test(arguments: questions)
    func aQuestionInWords(key: Factor.Key, destination: String?, prompt: String?, question: String) {
        let factor = Factor(key: key, providerName: "p", destination: destination)
        #expect(Challenge(factor: factor, prompt: prompt).question == question)
    }

    /// Each key has words of its own, but for what the provider words.
    @Test func eachKeyHasATitle() {
        let keys = Factor.Key.allCases.filter { $0 != .text }
        #expect(Set(keys.map(\.title)).count == keys.count)
        #expect(Factor.Key.allCases.filter(\.isHidden) == [.password, .newPassword, .securityAnswer])
    }
}
