import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The examples of the articles, compiled and run.
@Suite struct DocumentationExamples {
    @Test func signingInAndCalling() async throws {
        let bench = try FacebookBench([.device, .token(), .me, .answer("{}"), .me], credentials: Credentials())
        let (client, store) = (bench.client, bench.tokens)
        let (clientToken, prompts) = (Secret("ct"), Person())

        try await bench.skippingWaits {
            let app = FacebookApp(id: "1234", clientToken: clientToken)
            let facebook = try Facebook(app: app, client: client, tokens: store)

            let session = try await facebook.signIn(answering: prompts)
            print("signed in as", session.user?.name ?? "somebody")

            let feed = try await facebook.send(path: "me/feed")
            if let user = try await facebook.currentUser() {
                print(user.id)
            }
            try await facebook.signOut()
            #expect(feed.status == .ok)
        }

        #expect(try await bench.credentials == Credentials())
    }

    @Test func listsBatchesUploads() async throws {
        let bench = try FacebookBench([
            .answer(#"{"data":[]}"#),
            .answer(#"[{"code":200,"body":"{}"},{"code":400,"body":"{\"error\":{\"code\":10}}"}]"#),
            .answer(#"{"upload_session_id":"1","start_offset":"0","end_offset":"0"}"#),
            .answer(#"{"success":true}"#), .answer(#"{"id":"1"}"#), .answer(#"{"id":"upload:1"}"#),
            .answer(#"{"h":"h"}"#),
        ])
        let (facebook, pageToken, bytes) = (bench.facebook, Secret("page"), [UInt8]())

        for try await page in facebook.pages("me/feed", fields: ["limit": "50"]) {
            print(page.data.count)
        }

        let answers = try await facebook.batch([
            FacebookBatchRequest(path: "me"),
            FacebookBatchRequest(.post, path: "me/feed", form: ["message": "hello"]),
        ])
        for answer in answers where answer.outcome.isFailure {
            print(answer.outcome.kind.rawValue)
        }

        let video = FacebookUpload(bytes, fileName: "film.mp4")
        let receipt = try await facebook.upload(video, to: "1234/videos", as: .page(pageToken))
        print(receipt.id ?? "")

        let photo = FacebookUpload(bytes, fileName: "photo.jpg")
        _ = try await facebook.uploadPhoto(
            photo,
            to: "1234/photos",
            fields: ["published": "false"],
            as: .page(pageToken)
        )
        let handle = try await facebook.uploadFile(photo, type: "image/jpeg").id
        #expect(handle == "h")

        #expect(answers.map(\.outcome.kind) == [.ok, .permissionDenied])
        #expect(bench.transport.received.count == 7)
    }

    @Test func signingInInABrowser() async throws {
        let bench = try FacebookBench([.token(), .me], credentials: Credentials())
        let (app, client, store) = (FacebookBench.service, bench.client, bench.tokens)
        let sentTo = Locked<Secret?>(nil)
        let redirect = { (url: Secret?) in sentTo.withLock { $0 = url } }

        let configuration = FacebookConfiguration(
            webLogin: FacebookConfiguration.WebLogin(redirectURI: "https://app.example.com/facebook"),
            permissions: ["public_profile", "email"]
        )
        let facebook = try Facebook(app: app, client: client, tokens: store, configuration: configuration)

        var flow = facebook.signInFlow()
        if case .ask(let challenge) = try await flow.step(.begin).step {
            redirect(challenge.url)
        }
        let state = Browser.fields(sentTo.withLock { $0?.reveal() ?? "" })["state"] ?? ""
        let url = Secret("https://app.example.com/facebook?code=c&denied_scopes=email&state=\(state)")
        // The browser came back:
        var declined: [String] = []
        if case .finished(let session) = try await flow.step(.answer(.text(url))).step {
            declined = session.permissions.filter { $0.status == .declined }.map(\.name)
        }
        #expect(declined == ["email"])
    }

    @Test func tables() async throws {
        let bench = try FacebookBench([.answer("{}")])
        let facebook = bench.facebook

        let table = try await facebook.errorConfiguration()
        let category = table.category(code: 190, subcode: 463)
        if case .recoverable = category {
            print(table.entry(code: 190, subcode: 463)?.recoveryMessage ?? "")
        }

        #expect(category == .recoverable)
        #expect(FacebookConfiguration(errors: table).errors == table)
        #expect(FacebookConfiguration(recoversFromErrors: false).recoversFromErrors == false)
    }

    @Test func merging() throws {
        let sent = FacebookErrorConfiguration()

        let errors = FacebookErrorConfiguration.builtIn.merging(sent)
        #expect(errors.category(code: 190, subcode: 463) == .recoverable)
    }
}
