import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Callbacks that no person answers")
struct ForgeRockCallbackTests {
    private func input(_ names: String..., type: String, output: String = "") -> String {
        let list = names.map { #"{"name":"IDToken1\#($0)","value":""}"# }.joined(separator: ",")
        return #"{"type":"\#(type)","output":[\#(output)],"input":[\#(list)]}"#
    }

    /// A callback, what the person says, and what goes back in its inputs.
    private struct Row: CustomTestStringConvertible {
        var callback: String
        var answers: [Factor.Key: [Challenge.Answer]] = [:]
        var choosing: String?
        var sent: String
        /// Whether somebody is asked.
        var key: Factor.Key?

        var testDescription: String { String(callback.prefix(48)) }
    }

    private static let named = #"{"name":"name","value":"x"},{"name":"prompt","value":"What?"}"#
    private static let profileInputs =
        #""input":[{"name":"IDToken1","value":""},{"name":"IDToken1validateOnly","value":false}]"#

    /// All that can come in a step, as the reference lists it; the rest has tests of its own.
    private static let rows: [Row] = [
        Row(callback: AM.name, answers: [.text: [.text("ada")]], sent: #""ada""#, key: .text),
        Row(callback: AM.password, answers: [.password: [.text("p")]], sent: #""p""#, key: .password),
        Row(
            callback: callback("TextInputCallback", #"{"name":"prompt","value":"Nickname"}"#),
            answers: [.text: [.text("n")]],
            sent: #""n""#,
            key: .text
        ),
        Row(callback: AM.text("Hello"), sent: ""), Row(callback: AM.text("alert(1)", kind: "4"), sent: ""),
        Row(callback: AM.choice("a", "b"), choosing: "b", sent: "1"),
        Row(callback: AM.confirmation("Yes", "No"), choosing: "No", sent: "1"),
        Row(callback: AM.confirmation("Next"), sent: "0"),
        Row(
            callback: callback("ConfirmationCallback", #"{"name":"optionType","value":2}"#),
            choosing: "Cancel",
            sent: "2"
        ),
        Row(
            callback: callback("HiddenValueCallback", #"{"name":"id","value":"other"},{"name":"value","value":"v"}"#),
            sent: #""""#
        ),
        Row(
            callback: callback(
                "SelectIdPCallback",
                #"{"name":"providers","value":[{"provider":"a"},{"provider":"b"}]}"#
            ),
            choosing: "b",
            sent: #""b""#
        ),
        Row(
            callback: callback("TermsAndConditionsCallback", #"{"name":"terms","value":"Be nice"}"#),
            answers: [.choice: [.text("yes")]],
            sent: "true",
            key: .choice
        ),
        Row(
            callback: callback("ConsentMappingCallback", #"{"name":"message","value":"Share?"}"#),
            answers: [.choice: [.text("no")]],
            sent: "false",
            key: .choice
        ),
        Row(
            callback: #"{"type":"StringAttributeInputCallback","output":[\#(named)],\#(profileInputs)}"#,
            answers: [.text: [.text("Graz")]],
            sent: #""Graz" false"#,
            key: .text
        ),
        Row(
            callback: #"{"type":"NumberAttributeInputCallback","output":[\#(named)],\#(profileInputs)}"#,
            answers: [.text: [.text("4.5")]],
            sent: "4.5 false",
            key: .text
        ),
        Row(
            callback: #"{"type":"BooleanAttributeInputCallback","output":[\#(named)],\#(profileInputs)}"#,
            answers: [.choice: [.text("true")]],
            sent: "true false",
            key: .choice
        ),
        Row(
            callback: #"{"type":"ValidatedCreateUsernameCallback","output":[\#(named)],\#(profileInputs)}"#,
            answers: [.text: [.text("ada2")]],
            sent: #""ada2" false"#,
            key: .text
        ),
        Row(
            callback: #"{"type":"ValidatedCreatePasswordCallback","output":[\#(named)],\#(profileInputs)}"#,
            answers: [.newPassword: [.text("n")]],
            sent: #""n" false"#,
            key: .newPassword
        ),
        Row(
            callback:
                #"{"type":"KbaCreateCallback","output":[{"name":"predefinedQuestions","value":["Pet?"]}],"input":[{"name":"IDToken1question","value":""},{"name":"IDToken1answer","value":""}]}"#,
            answers: [.securityAnswer: [.text("Rex")]],
            sent: #""Pet?" "Rex""#,
            key: .securityAnswer
        ),
        Row(
            callback:
                #"{"type":"KbaCreateCallback","output":[{"name":"predefinedQuestions","value":[]}],"input":[{"name":"IDToken1question","value":""},{"name":"IDToken1answer","value":""}]}"#,
            answers: [.text: [.text("Cat?")], .securityAnswer: [.text("Tom")]],
            sent: #""Cat?" "Tom""#,
            key: .text
        ),
        Row(
            callback: callback("ReCaptchaCallback", #"{"name":"recaptchaSiteKey","value":"k"}"#),
            answers: [.captcha: [.text("proof")]],
            sent: #""proof""#,
            key: .captcha
        ),
        Row(callback: callback("MetadataCallback", #"{"name":"data","value":{"x":1}}"#, inputs: 0), sent: ""),
    ]

    @Test(arguments: rows)
    private func everyCallbackIsAnswered(row: Row) async throws {
        let bench = try ForgeRockBench([.step(row.callback), .success()])
        let person = Person(row.answers, choosing: row.choosing)
        _ = try await bench.clock.skippingWaits { try await bench.forgeRock.signIn(nil, answering: person) }
        #expect(bench.sent.last == "authenticate a1" + (row.sent.isEmpty ? "" : " \(row.sent)"))
        #expect(person.questions.first?.key == row.key)
        if let choice = row.choosing { #expect(person.choices.first?.contains(choice) == true) }
    }

    @Test(arguments: ["RetinaScanCallback", "X509Callback", "X509CertificateCallback", "HttpCallback"])
    func whatNobodyHasAnAnswerToIsSaidAfterOneRequest(type: String) async throws {
        let bench = try ForgeRockBench(Array(repeating: .step(callback(type)), count: 40))
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(bench.transport.received.count == 1)
        #expect(error?.kind == .challengeRequired && error?.remedies == [.solveChallenge])
        #expect(error?.outcome.parameter == type && error?.userMessage.contains(type) == true)
    }

    /// A page that nobody has anything to say to, and that comes again as it was, would come again without an end.
    @Test(arguments: [
        callback("LanguageCallback", "", inputs: 0), callback("HologramCallback", "", inputs: 0),
        callback(
            "TextOutputCallback",
            #"{"name":"message","value":"."},{"name":"messageType","value":"4"}"#,
            inputs: 0
        ),
    ])
    func aPageThatComesAgainAsItWasIsNotSentOnAndOn(page: String) async throws {
        let bench = try ForgeRockBench((1...40).map { .step(page, id: "a\($0)") })
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .challengeRequired && error?.remedies == [.solveChallenge])
        let type = try JSONValue(parsing: page)["type"]
        #expect(error?.outcome.details?["callbackType"] == type)
        #expect(bench.transport.received.count == 2)
        // Once is no loop: it is how such a page is answered.
        let once = try ForgeRockBench([.step(page), .success()])
        #expect(try await once.signIn().exists)
    }

    @Test func aTypeThatIsNoNameIsNotPrinted() async throws {
        let bench = try ForgeRockBench([.step(callback("x<script>\\u0007"))])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .challengeRequired && error?.userMessage.contains("script") == false)
    }

    /// What stands beside a question, or wants no answer, is no reason to end.
    @Test func whatIsBesideAQuestionGoesBackUntouched() async throws {
        let strange = callback("RetinaScanCallback", index: 3)
        let silent = callback("LightCallback", inputs: 0)
        let bench = try ForgeRockBench([
            .step(AM.name, AM.password, strange), .step(silent, id: "a2"), .step(AM.poll(), strange, id: "a3"),
            .success(),
        ])
        _ = try await bench.signIn()
        #expect(
            bench.sent.suffix(3) == [#"authenticate a1 "ada" "hunter2" """#, "authenticate a2", #"authenticate a3 """#]
        )
        let language = input("Language", "Country", type: "LanguageCallback")
        let second = try ForgeRockBench([.step(language), .success()])
        _ = try await second.signIn()
        #expect(second.transport.received[1].text.contains(language))
    }

    /// Of a callback that the app has answered nobody says so: it is the password that was refused.
    @Test func whatTheAppHasAnsweredIsNotLeftOpen() async throws {
        struct Seeing: JourneyCallbackResponder {
            func answer(_ callback: inout JourneyCallback, in step: JourneyStep) -> Bool {
                guard callback.type == "RetinaScanCallback" else { return false }
                callback.setInput("green")
                return true
            }
        }
        let page = ScriptedTransport.Step.step(AM.name, AM.password, callback("RetinaScanCallback", index: 3))
        let bench = try ForgeRockBench([page, page, .success()])
        let person = Person([.password: "right"])
        _ = try await bench.signIn("wrong", person, callbacks: Seeing())
        #expect(person.questions.first?.previousFailure?.kind == .invalidCredentials)
        #expect(bench.sent.last == #"authenticate a1 "ada" "right" "green""#)
        // Without the app the same says that nothing was looked at.
        let other = try ForgeRockBench([page, page])
        let error = await #expect(throws: RecoveryError.self) { try await other.signIn("wrong", Person()) }
        #expect(error?.kind == .challengeRequired && error?.outcome.parameter == "RetinaScanCallback")
    }

    @Test func anHTTPAuthenticationThatDidNotTakePlaceIsPassedOver() async throws {
        let failed = ScriptedTransport.Step.status(
            401,
            ["www-authenticate": "Negotiate"],
            body: #"{"failure":true,"reason":"http-auth-failed","authId":"h1"}"#
        )
        let bench = try ForgeRockBench([failed, .login, .success()])
        _ = try await bench.signIn()
        #expect(bench.transport.received[1].text == #"{"reason":"http-auth-failed","authId":"h1"}"#)
        #expect(bench.sent.last == #"authenticate a1 "ada" "hunter2""#)
        // Once: a server that says so again has nothing that takes over.
        let again = try ForgeRockBench([failed, failed, failed])
        let error = await #expect(throws: RecoveryError.self) { try await again.signIn() }
        #expect(error?.kind == .factorUnavailable && again.transport.received.count == 2)
    }

    @Test(arguments: [
        ("DeviceBindingCallback", "Unsupported"), ("DeviceSigningVerifierCallback", "ClientNotRegistered"),
        ("AppIntegrityCallback", "Unsupported"),
    ])
    func aNodeIsToldWhatIsNotThere(type: String, word: String) async throws {
        let bench = try ForgeRockBench([.step(input("jws", "clientError", type: type)), .success()])
        _ = try await bench.signIn()
        #expect(bench.sent.last == #"authenticate a1 "" "\#(word)""#)
    }

    @Test func protectIsToldThatThereAreNoSignals() async throws {
        let text = #""PingOne Protect is not available on this platform""#
        for type in ["PingOneProtectInitializeCallback", "PingOneProtectEvaluationCallback"] {
            let bench = try ForgeRockBench([.step(input("signals", "clientError", type: type)), .success()])
            _ = try await bench.signIn()
            #expect(bench.sent.last == #"authenticate a1 "" \#(text)"#)
        }
        func hidden(_ id: String) -> String {
            callback("HiddenValueCallback", #"{"name":"id","value":"\#(id)"}"#)
        }
        let data = AM.metadata(#"{"_type":"PingOneProtect","_action":"protect_risk_evaluation"}"#)
        let bench = try ForgeRockBench([
            .step(data, hidden("pingone_risk_evaluation_signals"), hidden("clientError")), .success(),
        ])
        _ = try await bench.signIn()
        #expect(bench.sent.last == #"authenticate a1 "" \#(text)"#)
        // The name alone does not make it one.
        let other = try ForgeRockBench([.step(AM.metadata(#"{"_type":"x"}"#), hidden("clientError")), .success()])
        _ = try await other.signIn()
        #expect(other.sent.last == #"authenticate a1 """#)
    }

    @Test func theProofOfACaptchaIsHandedIn() async throws {
        struct Solver: JourneyCallbackResponder {
            func answer(_ callback: inout JourneyCallback, in step: JourneyStep) -> Bool {
                callback.answerCaptcha(with: "proof", action: "login")
            }
        }
        let plain = callback("ReCaptchaCallback", #"{"name":"recaptchaSiteKey","value":"k"}"#)
        let first = try ForgeRockBench([.step(plain), .success()])
        _ = try await first.signIn(callbacks: Solver())
        #expect(first.sent.last == #"authenticate a1 "proof""#)
        let enterprise = input("action", "clientError", "token", type: "ReCaptchaEnterpriseCallback")
        let second = try ForgeRockBench([.step(enterprise), .success()])
        _ = try await second.signIn(callbacks: Solver())
        #expect(second.sent.last == #"authenticate a1 "login" "" "proof""#)
        let none = try ForgeRockBench([.step(plain)])
        let error = await #expect(throws: RecoveryError.self) { try await none.signIn() }
        #expect(error?.kind == .challengeRequired && error?.outcome.details == ["recaptchaSiteKey": "k"])
    }

    // MARK: The device

    private static func profile(_ flags: Bool) -> String {
        callback(
            "DeviceProfileCallback",
            #"{"name":"metadata","value":\#(flags)},{"name":"location","value":\#(flags)}"#
        )
    }

    private func profile(
        _ flags: Bool,
        given: JSONValue? = nil,
        name: String? = nil,
        _ bench: ForgeRockBench
    ) async throws -> JSONValue {
        let forgeRock = try ForgeRock(
            baseURL: "https://id.example.com/am",
            client: bench.client,
            tokens: bench.tokens,
            configuration: ForgeRockConfiguration(
                realm: "alpha",
                deviceName: name,
                deviceProfile: given,
                cookieName: "sso"
            )
        )
        bench.transport.append([.step(Self.profile(flags)), .success(nil)])
        _ = try await forgeRock.signIn(nil, answering: Person())
        let json = try JSONValue(parsing: bench.transport.received.last?.body ?? [])
        return try JSONValue(parsing: json["callbacks"]?[0]?["input"]?[0]?["value"]?.string ?? "")
    }

    @Test func aDeviceIsDescribedTrulyAndAlwaysTheSame() async throws {
        let bench = try ForgeRockBench()
        let first = try await profile(true, name: "build-7", bench)
        let id = try #require(first["identifier"]?.string)
        #expect(id.utf8.count == 32)
        #expect(
            first == [
                "identifier": .string(id), "metadata": ["platform": ["platform": "Linux", "deviceName": "build-7"]],
                "location": [:],
            ]
        )
        #expect(try await profile(false, bench) == ["identifier": .string(id)])
        #expect(try await bench.credentials.others.map(\.key) == ["device_identifier"])
        let own: JSONValue = ["identifier": "mine", "metadata": ["platform": ["platform": "Toaster"]]]
        #expect(try await profile(false, given: own, bench) == own)
        #expect(try await profile(false, given: ["x": 1], bench) == ["x": 1, "identifier": .string(id)])
    }
}
