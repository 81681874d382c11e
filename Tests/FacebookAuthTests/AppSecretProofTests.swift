#if Cryptography
import AuthRecovery
import FacebookAuth
import Testing

@Suite("The proof of the app's secret")
struct AppSecretProofTests {
    /// RFC 4231 section 4.3, test case 2.
    @Test func itIsTheHMACInLowerCaseHexadecimal() {
        let prover = HMACAppSecretProver(appSecret: "Jefe")
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        #expect(prover.proof(of: "what do ya want for nothing?").reveal() == expected)
        #expect(!"\(prover)".contains("Jefe"))
    }

    @Test func itGoesWithTheCall() async throws {
        let secret: Secret = "Jefe"
        let app = FacebookApp(id: "1234", secret: secret, prover: HMACAppSecretProver(appSecret: secret))
        let bench = try FacebookBench([.me], app: app)
        _ = try await bench.facebook.send(path: "me")
        let proof = bench.sent[0].split(separator: "appsecret_proof=").last ?? ""
        #expect(proof.count == 64)
        #expect(proof.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    }
}
#endif
