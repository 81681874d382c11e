import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("What the person is told in a journey")
struct ForgeRockMessageTests {
    private static func validated(_ type: String, _ requirements: String..., index: Int = 1) -> String {
        let policies = requirements.map { requirement in
            JSONValue.string(#"{"policyRequirement":"\#(requirement)","params":{"minLength":8,"maxLength":20}}"#)
        }
        let failed = #","failedPolicies","value":\#(JSONValue.array(policies))"#.dropFirst(2)
        return callback(type, #"{"name":"prompt","value":"New"},{"name":"\#(failed)}"#, inputs: 2, index: index)
    }

    /// Several rules, and those of several inputs.
    private static let broken: [(callbacks: [String], kind: Outcome.Kind, text: String)] = [
        (
            [validated("ValidatedCreatePasswordCallback", "MIN_LENGTH")], .passwordRejected,
            "It needs at least 8 characters."
        ),
        (
            [validated("ValidatedCreatePasswordCallback", "MIN_LENGTH", "DICTIONARY")], .passwordRejected,
            "It needs at least 8 characters. It is too common."
        ),
        (
            [AM.text("Please try again"), validated("ValidatedCreatePasswordCallback", "IS_NEW")], .passwordRejected,
            "It has been used before."
        ),
        (
            [
                validated("StringAttributeInputCallback", "MAX_LENGTH"),
                validated("ValidatedCreatePasswordCallback", "DICTIONARY", index: 2),
            ], .invalidRequest, "It can have at most 20 characters. It is too common."
        ),
    ]

    @Test(arguments: broken.indices)
    func brokenRulesAreToldAsSentences(_ index: Int) async throws {
        let row = Self.broken[index]
        let plain = callback("ValidatedCreatePasswordCallback", #"{"name":"prompt","value":"New"}"#, inputs: 2)
        let body = #"{"authId":"a2","callbacks":[\#(row.callbacks.joined(separator: ","))]}"#
        let bench = try ForgeRockBench([.step(plain)] + Array(repeating: .status(200, [:], body: body), count: 9))
        let person = Person([
            .newPassword: Array(repeating: .text("x"), count: 9), .text: Array(repeating: .text("y"), count: 9),
        ])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(nil, person) }
        #expect(error?.kind == row.kind && error?.outcome.userMessage == row.text)
        #expect(error?.userMessage == row.text)
        #expect(!person.notices.isEmpty && person.notices.allSatisfy { $0.userMessage == row.text })
    }

    @Test func whereItGoesOnInABrowserIsSaid() async throws {
        // Nothing is made up where there is no address.
        let bench = try ForgeRockBench([.step(callback("RedirectCallback"))])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .userActionRequired && error?.outcome.userMessage == nil)
    }

    // MARK: Long waits

    @Test(arguments: [
        ("600500", Duration.milliseconds(600_500)), ("3600000", .seconds(3600)), ("86400000", .seconds(86_400)),
    ])
    func aPollThatWantsALongWaitIsAnErrorWithTheWait(stated: String, wait: Duration) async throws {
        let bench = try ForgeRockBench([.login, .step(AM.poll(stated), id: "a2"), .success()])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .timedOut && error?.reason == .waitExceedsLimit)
        #expect(error?.retryAfter == wait)
        #expect(error?.retryAt == bench.client.runtime.time.wallTime.advanced(by: wait))
        // Neither waited for nor asked before its time.
        #expect(bench.clock.requestedDelays.isEmpty && bench.transport.received.count == 2)
        #expect(!bench.events.words.contains { $0.hasPrefix("wait") })
    }

    @Test func noWaitIsTooLongToBeRead() async throws {
        for stated in ["99999999999999999999999999", "1e400"] {
            let bench = try ForgeRockBench([.step(AM.poll(stated)), .success()])
            do {
                _ = try await bench.signIn()
            } catch let error as RecoveryError {
                #expect(error.reason == .waitExceedsLimit && bench.transport.received.count == 1)
            }
        }
    }

    @Test func theLongestWaitIsWaited() async throws {
        let bench = try ForgeRockBench([.login, .step(AM.poll("600000"), id: "a2"), .success()])
        _ = try await bench.signIn()
        #expect(bench.clock.requestedDelays.contains(.seconds(600)))
        #expect(bench.sent.last == "authenticate a2")
    }

    // MARK: New passwords and questions

    @Test func whyANewPasswordIsWantedStandsInTheHeading() async throws {
        let new = callback("PasswordCallback", #"{"name":"prompt","value":"New Password"}"#)
        let body =
            #"{"authId":"a2","header":"Change Password<BR></BR>Your password has expired.","description":"<p>Choose  one</p>","callbacks":[\#(new)]}"#
        let bench = try ForgeRockBench([.login, .status(200, [:], body: body), .success()])
        let person = Person([.newPassword: "better"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.questions.first?.hint == "Change Password Your password has expired.\nChoose one")
        let plain = try ForgeRockBench([.login, .step(AM.text("It has expired."), new, id: "a2"), .success()])
        let other = Person([.newPassword: "better"])
        _ = try await plain.signIn("hunter2", other)
        #expect(other.questions.first?.hint == "It has expired.")
    }

    @Test func aHeadingStandsBesideNoOtherQuestion() async throws {
        let body = #"{"authId":"a1","header":"Sign in","callbacks":[\#(AM.password)]}"#
        let bench = try ForgeRockBench([.status(200, [:], body: body), .success()])
        let person = Person([.password: "p"])
        _ = try await bench.signIn(nil, person)
        #expect(person.questions.first?.key == .password && person.questions.first?.hint == nil)
    }

    @Test func aSecurityQuestionIsOfferedAsWhatItIs() async throws {
        let questions = ["Your first phone?", "Your e-mail at school?", "Your first password?"]
        let list = JSONValue.array(questions.map { .string($0) })
        let kba =
            #"{"type":"KbaCreateCallback","output":[{"name":"prompt","value":"Question"},{"name":"predefinedQuestions","value":\#(list)}],"input":[{"name":"IDToken1question","value":""},{"name":"IDToken1answer","value":""}]}"#
        let bench = try ForgeRockBench([.step(kba), .success()])
        let person = Person([.securityAnswer: "Rex"], choosing: questions[0])
        _ = try await bench.signIn(nil, person)
        #expect(person.offered.first?.map(\.key) == [.choice, .choice, .choice])
        #expect(person.choices == [questions])
        // As a way to prove oneself it is shown by its label, for want of its words.
        let ways = try ForgeRockBench([.step(AM.choice("Email", "Security question")), .success()])
        let chooser = Person(choosing: "Email")
        _ = try await ways.signIn(nil, chooser)
        #expect(chooser.offered.first?.map(\.key) == [.emailCode, .securityAnswer])
        #expect(chooser.offered.first?.map(\.destination) == [nil, "Security question"])
    }
}
