import AuthRecovery
import AuthSandbox
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Uploads, batches, lists and the products' own answers at a server that behaves like Graph.
@Suite("Facebook's products at the sandbox", .timeLimit(.minutes(10)))
struct FacebookSandboxProductTests {
    private typealias Line = FacebookSandbox

    private static let film = FacebookUpload(Array(0..<10), fileName: "film.mp4")
    private static let settings: SandboxFacebookSettings = {
        var settings = SandboxFacebookSettings()
        settings.videoChunk = 4
        return settings
    }()

    // MARK: Uploads

    /// A chunk whose answer is lost is followed from where the server says, and the video is published once.
    @Test func aVideoGoesOnWhereTheServerIs() async throws {
        try await Line.run(settings: Self.settings) { line in
            let receipt = try await line.skippingWaits {
                try await line.facebook.upload(Self.film, to: "me/videos") { sent in
                    if sent == 4 { line.sandbox.add(SandboxFault(.resetAfter, path: "/v25.0/me/videos", times: 1)) }
                }
            }
            let counters = line.sandbox.facebookCounters
            #expect(counters.videos == 1 && counters.chunks == 3 && receipt.id?.isEmpty == false)
        }
    }

    /// A publishing whose answer is lost is looked up at the video.
    @Test func aVideoIsPublishedOnce() async throws {
        try await Line.run(settings: Self.settings) { line in
            let receipt = try await line.skippingWaits {
                try await line.facebook.upload(Self.film, to: "me/videos") { sent in
                    if sent == 10 { line.sandbox.add(SandboxFault(.resetAfter, path: "/v25.0/me/videos", times: 1)) }
                }
            }
            let finished = line.sandbox.requests(method: "POST", path: "/v25.0/me/videos").count
            #expect(line.sandbox.facebookCounters.videos == 1 && finished == 5)
            #expect(line.count("/v25.0/\(receipt.id ?? "?")") == 1)
        }
    }

    @Test(arguments: [(nil, 1), ("false", 2)] as [(String?, Int64)])
    func aPhotoIsPublishedOnce(published: String?, count: Int64) async throws {
        try await Line.run { line in
            line.sandbox.add(SandboxFault(.resetAfter, path: "/v25.0/me/photos", times: 1))
            var fields = FormFields()
            fields.add("published", published)
            let error = await line.outcome {
                try await line.facebook.uploadPhoto(
                    FacebookUpload([1, 2], fileName: "p.png"),
                    to: "me/photos",
                    fields: fields
                )
            }
            // What was published stays in doubt; what nobody sees is sent again.
            #expect((error == nil) == (published != nil))
            #expect(line.sandbox.facebookCounters.photos == count)
        }
    }

    /// A file of the app's comes once, however its answer is lost.
    @Test func aFileIsNotSentTwice() async throws {
        try await Line.run { line in
            line.sandbox.add(SandboxFault(.resetAfter, path: "/v25.0/upload:*", times: 1))
            let receipt = try await line.skippingWaits {
                try await line.facebook.uploadFile(Self.film, type: "video/mp4")
            }
            #expect(receipt.id?.hasPrefix("4:") == true)
        }
    }

    /// A reel is begun at Graph, goes where the answer says, and is published once.
    @Test(arguments: [false, true]) func aReel(isInterrupted: Bool) async throws {
        try await Line.run(permissions: ["pages_manage_posts"]) { line in
            func reel(_ fields: FormFields) async throws -> JSONValue {
                let form = ProviderRequest.Content.form(fields)
                return try await line.facebook.send(.post, path: "500/video_reels", body: form).json()
            }
            let begun = try await reel(["upload_phase": "start"])
            let (video, url) = (try #require(begun["video_id"]?.string), try #require(begun["upload_url"]?.string))
            if isInterrupted { line.sandbox.add(SandboxFault(.resetAfter, path: "/video-upload/*", times: 1)) }
            let receipt = try await line.skippingWaits {
                try await line.facebook.uploadFile(Self.film, at: url, of: video)
            }
            #expect(receipt.id == video)
            let end = try await reel(["upload_phase": "finish", "video_id": video, "video_state": "PUBLISHED"])
            #expect(end["success"]?.bool == true && line.sandbox.facebookCounters.videos == 1)
            #expect(line.count("/v25.0/\(video)") == (isInterrupted ? 1 : 0), "how much has come, the video tells")
        }
    }

    // MARK: Batches and lists

    @Test func aBatchGoesOnBehindASignIn() async throws {
        try await Line.run { line in
            _ = try await line.facebook.session()
            try line.sandbox.setFacebookTokens(.expired, of: Line.ada)
            let requests = [
                FacebookBatchRequest(path: "me"),
                FacebookBatchRequest(.post, path: "me/feed", form: ["message": "hello"]),
            ]
            let answers = try await line.skippingWaits {
                try await line.facebook.batch(requests, answering: line.browser())
            }
            #expect(answers.allSatisfy { !$0.outcome.isFailure })
            #expect(line.sandbox.facebookPosts(of: Line.ada) == ["hello"])
        }
    }

    @Test func aListGoesOnBehindASignIn() async throws {
        try await Line.run { line in
            for text in ["a", "b", "c"] {
                _ = try await line.facebook.send(.post, path: "me/feed", body: .form(["message": text]))
            }
            _ = try await line.facebook.session()
            let texts = try await line.skippingWaits {
                var texts: [String] = []
                for try await page in line.facebook.pages("me/feed", fields: ["limit": "1"], answering: line.browser())
                {
                    texts += page.data.compactMap { $0["message"]?.string }
                    if texts.count == 1 { try line.sandbox.setFacebookTokens(.loggedOut, of: Line.ada) }
                }
                return texts
            }
            #expect(texts == ["c", "b", "a"])
        }
    }

    // MARK: Errors

    /// What the app's own table says has its effect at the client that has fetched it.
    @Test func theAppsTableHasItsEffect() async throws {
        try await Line.run { line in
            func fail() { line.sandbox.add(.facebook(50_001, path: "/v25.0/me")) }
            fail()
            let browser = line.browser()
            let before = await line.outcome { try await line.facebook.send(path: "me", answering: browser) }
            #expect(before?.kind == .unknown && browser.queries.isEmpty)
            _ = try await line.facebook.loadErrorConfiguration()
            fail()
            #expect(await line.outcome { try await line.facebook.send(path: "me", answering: browser) } == nil)
            #expect(browser.queries.count == 1)
        }
    }

    /// Of a code that nobody knows the status decides.
    @Test(arguments: [(503, Outcome.Kind?.none), (500, nil), (400, .unknown), (403, .unknown)])
    func anUnknownCodeIsDecidedByItsStatus(status: Int, kind: Outcome.Kind?) async throws {
        try await Line.run { line in
            line.sandbox.add(.facebook(77_777, status: status, path: "/v25.0/me"))
            #expect(await line.outcome { try await line.facebook.send(path: "me") }?.kind == kind)
            #expect(line.count("/v25.0/me") == (kind == nil ? 2 : 1))
        }
    }

    /// A limit that is told in words alone is one.
    @Test(arguments: [
        "Application request limit reached", "(#17) User request limit reached", "(#32) Page request limit reached",
        "Calls to this api have exceeded the rate limit.",
    ])
    func aLimitIsKnownByItsText(text: String) async throws {
        try await Line.run { line in
            var fault = SandboxFault(.envelope, path: "/v25.0/me", times: 1)
            (fault.status, fault.envelope, fault.errorMessage) = (400, "fb-text", text)
            line.sandbox.add(fault)
            let error = await line.outcome {
                try await line.facebook.client.operation { operation in
                    var facebook = line.facebook.within(operation)
                    facebook.client = facebook.client.waiting(atMost: .seconds(1))
                    return try await facebook.send(path: "me")
                }
            }
            #expect(error?.kind == .rateLimited && error?.outcome.tokenAction == .keep)
        }
    }

    /// What was declined is refused with 10 or a code of the two hundreds, and takes no token away.
    @Test(arguments: [
        ("GET", "500/feed", "pages_read_engagement", "10"), ("POST", "500/photos", "pages_manage_posts", "200"),
        ("GET", "act_1/insights", "ads_read", "200"), ("POST", "17841/media", "instagram_content_publish", "10"),
        ("POST", "1055/messages", "whatsapp_business_messaging", "10"),
    ])
    func aPermissionThatWasDeclined(method: String, path: String, permission: String, code: String) async throws {
        try await Line.run(permissions: [permission]) { line in
            try line.sandbox.setFacebookPermission(permission, of: Line.ada, isGranted: false)
            let request = ProviderRequest(
                HTTPRequest.Method(rawValue: method) ?? .get,
                path: path,
                body: method == "POST" ? .form(["image_url": "https://example.com/i.png"]) : nil
            )
            let error = await line.outcome { try await line.facebook.send(request, as: .stored) }
            #expect(error?.kind == .permissionDenied && error?.outcome.code == code)
            #expect(error?.outcome.parameter == (permission == "ads_read" ? "ads_management" : permission))
            #expect(error?.remedies == [.reauthenticate, .contactAdmin] && error?.outcome.tokenAction == .keep)
            #expect(await line.tokens.read().credentials.accessToken != nil)
            #expect(try await line.facebook.permissions().contains { $0.name == permission && $0.status == .declined })
        }
    }

    /// A page that was left out is as if it did not exist, although the permission is there: the token tells.
    @Test func aPageThatWasLeftOut() async throws {
        try await Line.run(permissions: ["pages_read_engagement"]) { line in
            let error = await line.outcome { try await line.facebook.send(path: "700/feed") }
            #expect(error?.kind == .notFound && error?.outcome.subcode == "33")
            let info = try await line.facebook.inspect()
            #expect(info.grants("pages_read_engagement", for: "500"))
            #expect(!info.grants("pages_read_engagement", for: "700"))
        }
    }

    /// Where only the access to the person's data has ended, they stay known, and are asked for that alone.
    @Test func theAccessToDataIsExtended() async throws {
        try await Line.run { line in
            let id = try await line.facebook.session()?.user?.id
            try line.sandbox.setFacebookTokens(.inactive, of: Line.ada)
            let browser = line.browser()
            _ = try await line.skippingWaits { try await line.facebook.send(path: "me", answering: browser) }
            #expect(browser.value("auth_type") == "reauthorize")
            #expect(try await line.facebook.cachedUser()?.id == id)
        }
    }

    // MARK: Instagram and WhatsApp

    @Test func aContainerIsPublishedWhenItIsReady() async throws {
        var settings = SandboxFacebookSettings()
        // Longer than a busy machine takes for what comes before.
        settings.mediaTime = 3_600_000
        try await Line.run(permissions: ["instagram_content_publish"], settings: settings) { line in
            func post(_ path: String, _ form: FormFields) async throws -> JSONValue {
                try await line.facebook.send(.post, path: "17841/\(path)", body: .form(form), resend: .spending).json()
            }
            let made = try await post("media", ["image_url": "https://example.com/i.png"])
            let container = try #require(made["id"]?.string)
            let early = await line.outcome { try await post("media_publish", ["creation_id": container]) }
            #expect(early?.kind == .challengePending && early?.remedies == [.poll])
            let state = await line.outcome {
                try await line.facebook.send(path: container, query: ["fields": "status_code"])
            }
            #expect(state?.kind == .challengePending || state == nil)
            line.sandbox.advanceClock(by: .seconds(3600))
            let published = try await post("media_publish", ["creation_id": container])
            #expect(published["id"]?.string?.isEmpty == false && line.sandbox.facebookCounters.media == 1)
            let again = await line.outcome { try await post("media_publish", ["creation_id": container]) }
            #expect(again?.kind == .flowExpired && again?.remedies == [.restartFlow])
        }
    }

    @Test func aContainerThatHasFailedIsMadeAnew() async throws {
        var settings = SandboxFacebookSettings()
        settings.mediaTime = 0
        try await Line.run(permissions: ["instagram_content_publish"], settings: settings) { line in
            let form: FormFields = ["image_url": "https://example.com/broken"]
            let made = try await line.facebook.send(.post, path: "17841/media", body: .form(form)).json()
            let container = try #require(made["id"]?.string)
            let state = await line.outcome {
                try await line.facebook.send(path: container, query: ["fields": "status_code"])
            }
            #expect(state?.kind == .flowExpired && state?.remedies == [.restartFlow])
        }
    }

    @Test func thePostsOfADayAreAQuota() async throws {
        var settings = SandboxFacebookSettings()
        (settings.mediaTime, settings.mediaPerDay) = (0, 0)
        try await Line.run(permissions: ["instagram_content_publish"], settings: settings) { line in
            func post(_ path: String, _ form: FormFields) async throws -> JSONValue {
                try await line.facebook.send(.post, path: "17841/\(path)", body: .form(form)).json()
            }
            let made = try await post("media", ["image_url": "https://example.com/i.png"])
            let container = try #require(made["id"]?.string)
            let error = await line.outcome { try await post("media_publish", ["creation_id": container]) }
            #expect(error?.kind == .quotaExhausted && error?.outcome.subcode == "2207042")
            #expect(line.sandbox.facebookCounters.media == 0)
        }
    }

    /// A person who has not written for a day gets templates alone.
    @Test func theWindowOfADay() async throws {
        try await Line.run(permissions: ["whatsapp_business_messaging"]) { line in
            func write(_ message: JSONValue) async -> RecoveryError? {
                await line.outcome { try await line.facebook.send(.post, path: "1055/messages", body: .json(message)) }
            }
            let late = await write(FacebookSandboxTests.message(to: "15550001"))
            #expect(late?.kind == .invalidRequest && late?.outcome.code == "131047" && late?.remedies == [.fixRequest])
            let template: JSONValue = [
                "messaging_product": "whatsapp", "to": "15550001", "type": "template",
                "template": ["name": "unheard_of"],
            ]
            #expect(await write(template)?.kind == .notFound)
            line.sandbox.writeAtWhatsApp(from: "15550001", to: "1055")
            #expect(await write(FacebookSandboxTests.message(to: "15550001")) == nil)
            #expect(line.sandbox.facebookCounters.messages == 1)
        }
    }
}
