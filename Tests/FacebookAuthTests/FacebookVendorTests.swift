import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@Suite("The vendor's words")
struct FacebookVendorTests {
    @Test func theNumbersAreTheVendors() {
        #expect(FacebookLoginError.allCases.map(\.rawValue) == Array(300...310))
        #expect(FacebookCoreError.allCases.map(\.rawValue) == Array(0...14))
        #expect(FacebookShareError.allCases.map(\.rawValue) == Array(200...203))
        #expect(FacebookLimitedLoginError.allCases.map(\.rawValue) == Array(0...14))
        #expect(FacebookErrorCategory.allCases.map(\.rawValue) == [0, 1, 2])
        #expect(FacebookLoginError.domain == "com.facebook.sdk.login")
    }

    @Test func whatCanBeHealedHasItsRemedy() {
        var all: [any FacebookVendorError] = []
        all += FacebookLoginError.allCases.map { $0 as any FacebookVendorError }
        all += FacebookCoreError.allCases.map { $0 as any FacebookVendorError }
        all += FacebookShareError.allCases.map { $0 as any FacebookVendorError }
        all += FacebookLimitedLoginError.allCases.map { $0 as any FacebookVendorError }
        for error in all {
            let isDeadEnd = [Outcome.Kind.unknown, .unreadable, .declined].contains(error.kind)
            #expect(error.remedies.isEmpty == isDeadEnd, "\(error)")
        }
    }

    private static func error(_ code: Int, _ subcode: Int? = nil) -> RecoveryError {
        RecoveryError(outcome: Recorded(body: Recorded.error(code, subcode)).outcome, reason: .notRecoverable)
    }

    @Test func errorsAreFoundByTheirVendorsCode() {
        #expect(FacebookLoginError(Self.error(190, 460)) == .passwordChanged)
        #expect(FacebookLoginError(Self.error(190, 459)) == .userCheckpointed)
        #expect(FacebookLoginError(Self.error(200, 464)) == .unconfirmedUser)
        #expect(FacebookLoginError(Self.error(190, 463)) == nil)
        #expect(FacebookCoreError(Self.error(190, 463)) == .graphRequestGraphAPI)
        let lost = RecoveryError(
            outcome: Outcome(.transport),
            reason: .notRecoverable
        )
        #expect(FacebookCoreError(lost) == .network)
        #expect(lost.outcome.facebookCategory == .transient)
        #expect(Self.error(190, 463).outcome.facebookCategory == .recoverable)
        #expect(Self.error(190, 459).outcome.facebookCategory == .other)
        #expect(Self.error(4).outcome.facebookCategory == .transient)
    }

    @Test func theBuiltInTableIsTheVendors() {
        let table = FacebookErrorConfiguration.builtIn
        for code in [1, 2, 4, 9, 17, 341] { #expect(table.category(code: code) == .transient) }
        for code in [102, 190] {
            #expect(table.category(code: code, subcode: 463) == .recoverable)
            #expect(table.entry(code: code, subcode: nil)?.recoveryOptions == ["OK", "Cancel"])
        }
        #expect(table.category(code: 10) == .other)
        #expect(table.category(code: 10, isTransient: true) == .transient)
        #expect(table.category(code: 190, isClientToken: true) == .other)
        #expect(FacebookErrorConfiguration.builtInAndroid.category(code: 412) == .recoverable)
        #expect(FacebookErrorConfiguration.builtInAndroid.category(code: 1) == .other)
    }

    private static let sent = """
        [{"name":"transient","items":[{"code":4}]},
         {"name":"login_recoverable","items":[{"code":"190","subcodes":[460,463]}],
          "recovery_message":"Please log in again","recovery_options":["OK","Cancel"]},
         {"name":"other","items":[{"code":190,"subcodes":[459,464]},{"code":2}]},7,{"items":7},{"name":"transient"}]
        """

    @Test func aSentTableLiesOverTheBuiltInOne() throws {
        for json in [Self.sent, #"{"ios_sdk_error_categories":\#(Self.sent),"id":"1"}"#] {
            let read = try #require(FacebookErrorConfiguration(try JSONValue(parsing: json)))
            let table = FacebookErrorConfiguration.builtIn.merging(read)
            #expect(table.category(code: 190, subcode: 459) == .other)
            #expect(table.category(code: 190, subcode: 463) == .recoverable)
            #expect(table.category(code: 190, subcode: 1) == .recoverable)
            #expect(table.category(code: 2) == .other)
            #expect(table.category(code: 1) == .transient)
            #expect(table.entry(code: 190, subcode: 463)?.recoveryMessage == "Please log in again")
        }
        #expect(FacebookErrorConfiguration("text") == nil)
    }

    @Test func itIsLookedUpInFourSteps() {
        var table = FacebookErrorConfiguration()
        #expect(table.entry(code: 1, subcode: 2) == nil)
        table.set(.init(.transient), code: nil)
        #expect(table.category(code: 1, subcode: 2) == .transient)
        table.set(.init(.other), code: nil, subcode: 2)
        #expect(table.category(code: 1, subcode: 2) == .other)
        table.set(.init(.recoverable), code: 1)
        #expect(table.category(code: 1, subcode: 2) == .recoverable)
        table.set(.init(.transient), code: 1, subcode: 2)
        #expect(table.category(code: 1, subcode: 2) == .transient)
    }
}

@Suite("What a person is told")
struct FacebookWordingTests {
    @Test(arguments: [
        (458, "removed"), (460, "password"), (463, "run out"), (467, "logged out"), (493, "your data"),
    ])
    func aRefusedTokenSaysWhy(subcode: Int, word: String) async throws {
        let bench = try FacebookBench([.error(190, subcode)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(error?.userMessage.contains(word) == true, "\(error?.userMessage ?? "")")
    }

    @Test func whatFacebookTellsThePersonStandsFirst() async throws {
        let body = Recorded.error(190, 460, more: #","error_user_title":"Hello","error_user_msg":"Facebook says so.""#)
        let bench = try FacebookBench([.status(400, [:], body: body)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(error?.userMessage == "Facebook says so.")
        // What an answer means holds the server's words alone.
        #expect(Recorded(body: Recorded.error(190, 460)).outcome.userMessage == nil)
    }

    @Test(arguments: [(459, "www.facebook.com"), (464, "confirm")])
    func whoHasToActIsToldWhere(subcode: Int, word: String) async throws {
        let bench = try FacebookBench([.error(190, subcode)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(error?.kind == .userActionRequired)
        #expect(error?.userMessage.contains(word) == true)
    }

    @Test func nobodyIsToldThatSomethingHasChangedIfSomebodyElseSignsIn() async throws {
        let bench = try FacebookBench([.me])
        _ = try await bench.facebook.currentUser()
        bench.transport.append([.error(190, 463), .device, .token(), .answer(#"{"id":"2","name":"Grace"}"#)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.send(path: "me/feed", answering: Person()) }
        }
        #expect(error?.reason == .identityChanged)
        #expect(error?.userMessage == FacebookLoginError.userMismatch.userMessage)
    }

    @Test func everyLoginErrorHasASentence() {
        for error in FacebookLoginError.allCases { #expect(error.userMessage.hasSuffix(".")) }
    }
}
