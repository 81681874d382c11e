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

    /// Compiled alone: it would sign in at Facebook.
    private func inShort(
        _ client: RecoveringClient,
        path: String,
        _ clientToken: Secret,
        _ prompts: Person
    ) async throws -> [Any] {
        let app = FacebookApp(id: "1234", clientToken: clientToken)
        let facebook = try Facebook(app: app, client: client, tokens: FileTokenStore(path: path))
        let session = try await facebook.signIn(answering: prompts)
        let feed = try await facebook.send(path: "me/feed")
        return [session, feed]
    }

    /// Compiled alone: FacebookIDTokenTests do it.
    private func whoItIs(_ facebook: Facebook, _ token: Secret, nonce: Secret) async throws {
        let person = try await facebook.verify(idToken: token, nonce: nonce)
        print(person.subject ?? "")
    }

    @Test func listsBatchesUploads() async throws {
        let bench = try FacebookBench([
            .answer(#"{"data":[]}"#),
            .answer(#"[{"code":200,"body":"{}"},{"code":400,"body":"{\"error\":{\"code\":10}}"}]"#),
            .answer(#"{"upload_session_id":"1","start_offset":"0","end_offset":"0"}"#),
            .answer(#"{"success":true}"#), .answer(#"{"id":"1"}"#), .answer(#"{"id":"upload:1"}"#),
            .answer(#"{"h":"h"}"#), .answer(#"{"data":[{"id":"1"}]}"#),
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

        for try await page in facebook.pages("me/feed") {
            for post in page.data { print(post["id"]?.string ?? "") }
        }

        #expect(answers.map(\.outcome.kind) == [.ok, .permissionDenied])
        #expect(bench.transport.received.count == 8)
    }

    @Test func signingInInABrowser() async throws {
        let bench = try FacebookBench([.token(), .me], credentials: Credentials())
        let (app, client, store) = (FacebookBench.service, bench.client, bench.tokens)
        let sentTo = Locked<Secret?>(nil)
        func redirect(to url: Secret?) { sentTo.withLock { $0 = url } }
        var url: Secret {
            let state = Browser.fields(sentTo.withLock { $0?.reveal() ?? "" })["state"] ?? ""
            return Secret("https://app.example.com/facebook?code=c&denied_scopes=email&state=\(state)")
        }
        var declined: [String] = []
        func print(_ names: [String]) { declined = names }

        let configuration = FacebookConfiguration(
            webLogin: FacebookConfiguration.WebLogin(redirectURI: "https://app.example.com/facebook"),
            permissions: ["public_profile", "email"]
        )
        let facebook = try Facebook(app: app, client: client, tokens: store, configuration: configuration)

        var flow = facebook.signInFlow()
        if case .ask(let challenge) = try await flow.step(.begin).step {
            redirect(to: challenge.url)
        }
        // The browser came back:
        if case .finished(let session) = try await flow.step(.answer(.text(url))).step {
            print(session.permissions.filter { $0.status == .declined }.map(\.name))
        }
        #expect(declined == ["email"])
    }

    @Test func tables() async throws {
        let bench = try FacebookBench([.answer("{}"), .answer("{}")])
        let facebook = bench.facebook

        let table = try await facebook.errorConfiguration()
        let category = table.category(code: 190, subcode: 463)
        if case .recoverable = category {
            print(table.entry(code: 190, subcode: 463)?.recoveryMessage ?? "")
        }

        #expect(category == .recoverable)
        do {
            let configuration = FacebookConfiguration(errors: table)
            try await facebook.loadErrorConfiguration()
            #expect(configuration.errors == table && bench.transport.received.count == 2)
        }
        let configuration = FacebookConfiguration(recoversFromErrors: false)
        #expect(!configuration.recoversFromErrors)
    }

    @Test func merging() throws {
        let sent = FacebookErrorConfiguration()

        let errors = FacebookErrorConfiguration.builtIn.merging(sent)
        let category = errors.category(code: 190, subcode: 463)
        #expect(category == .recoverable)
    }
}
