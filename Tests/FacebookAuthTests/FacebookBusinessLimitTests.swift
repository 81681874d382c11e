import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Facebook's limits by business")
struct FacebookBusinessLimitTests {
    private static func usage(_ id: String, _ type: String, minutes: Int = 10) -> [String: String] {
        let entry = #"{"type":"\#(type)","call_count":100,"estimated_time_to_regain_access":\#(minutes)}"#
        return ["x-business-use-case-usage": #"{"\#(id)":[\#(entry)]}"#]
    }

    private static func isHeld(_ bench: FacebookBench, _ path: String, as token: FacebookToken = .stored) async -> Bool
    {
        let count = bench.transport.received.count
        bench.transport.append([.answer("{}")])
        do {
            _ = try await bench.facebook.send(ProviderRequest(path: path), as: token)
            return false
        } catch {
            return bench.transport.received.count == count
        }
    }

    /// A limit of a page's holds all forms of its paths, and no other page's.
    @Test(
        arguments: [
            .error(80_001, nil, 400, ["retry-after": "600"]), .error(32, nil, 403, ["retry-after": "600"]),
            .answer("{}", usage("5", "pages")), .error(80_001, nil, 400, usage("5", "pages")),
            .answer("{}", ["x-page-usage": #"{"call_count":100}"#]),
        ] as [ScriptedTransport.Step]
    )
    func aPageIsKnownByItsIDWhateverThePath(step: ScriptedTransport.Step) async throws {
        let bench = try FacebookBench([step]) { Recovery(maxWait: .seconds(1)) }
        _ = try? await bench.facebook.send(path: "5/feed")
        for path in ["5/posts", "5", "/v20.0/5/photos?limit=1", "5_77", "5_77/comments", "5/insights", "?id=5"] {
            #expect(await Self.isHeld(bench, path), "\(path)")
        }
        for path in ["6/feed", "6_5", "me/feed", "act_5/insights", "5/messages"] {
            #expect(await !Self.isHeld(bench, path), "\(path)")
        }
    }

    @Test(arguments: ["1", "act_1"])
    func anAccountHoldsItsUsesForAllItsPaths(account: String) async throws {
        let bench = try FacebookBench([.error(80_004, nil, 400, Self.usage("1", "ads_management"))])
        // A campaign's path does not tell whose it is; the answer does.
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "901") }
        for path in ["act_1/campaigns", "act_1/ads", "act_1", "901", "901/ads"] {
            #expect(await Self.isHeld(bench, path), "\(path)")
        }
        for path in ["act_1/insights", "act_2/campaigns", "902"] {
            #expect(await !Self.isHeld(bench, path), "\(path)")
        }
        // Whoever knows it says so.
        let count = bench.transport.received.count
        await #expect(throws: RecoveryError.self) {
            try await bench.facebook.send(ProviderRequest(path: "903"), as: .stored, business: account)
        }
        #expect(bench.transport.received.count == count)
    }

    @Test func whatAnAnswerTaughtIsHeldLater() async throws {
        let free = #"{"1":[{"type":"ads_management","call_count":5}]}"#
        let bench = try FacebookBench([
            .answer("{}", ["x-business-use-case-usage": free]), .answer("{}", Self.usage("1", "ads_management")),
        ])
        _ = try await bench.facebook.send(path: "901")
        _ = try await bench.facebook.send(path: "act_1/campaigns")
        #expect(await Self.isHeld(bench, "901/ads"))
        #expect(await !Self.isHeld(bench, "902/ads"))
    }

    /// Of several businesses, none of them the call's own, each holds only what is its own.
    @Test func othersLimitsHoldOnlyTheirOwn() async throws {
        let entry = #"[{"type":"pages","call_count":100,"estimated_time_to_regain_access":10}]"#
        let bench = try FacebookBench([
            .answer("{}", ["x-business-use-case-usage": #"{"6":\#(entry),"7":\#(entry)}"#])
        ])
        _ = try await bench.facebook.send(path: "5/feed")
        #expect(await !Self.isHeld(bench, "5/feed"))
        #expect(await Self.isHeld(bench, "6/feed"))
        #expect(await Self.isHeld(bench, "7/posts"))
    }

    /// A call that names several objects is held while one of them is.
    @Test func whatIsAboutSeveralIsHeldWithEachOfThem() async throws {
        let bench = try FacebookBench([.error(80_001, nil, 400, Self.usage("5", "pages"))])
        _ = try? await bench.facebook.send(path: "5/feed")
        let paths = ["?ids=5,6", "?ids=6%2C5", "feed?ids=6,5", "/v20.0/posts?ids=6,5_7", "insights?ids=6,5", "?ids=5"]
        for path in paths { #expect(await Self.isHeld(bench, path), "\(path)") }
        for path in ["?ids=6,7", "feed?ids=6", "?ids=55,6", "leads?ids=5,6"] {
            #expect(await !Self.isHeld(bench, path), "\(path)")
        }
        let count = bench.transport.received.count
        let answers = try await bench.facebook.batch([FacebookBatchRequest(path: "feed?ids=6,5")])
        #expect(answers.map(\.outcome.kind) == [.rateLimited] && bench.transport.received.count == count)
    }

    @Test(
        arguments: [.answer("{}", usage("5", "pages")), .error(80_001, nil, 400, usage("5", "pages"))]
            as [ScriptedTransport.Step]
    )
    func ofSeveralOnlyTheLimitedOneIsHeld(step: ScriptedTransport.Step) async throws {
        let bench = try FacebookBench([step])
        _ = try? await bench.facebook.send(path: "feed?ids=6,5")
        for path in ["5/feed", "5", "?ids=7,5", "posts?ids=5,6"] {
            #expect(await Self.isHeld(bench, path), "\(path)")
        }
        for path in ["6/feed", "?ids=6,7", "feed?ids=7"] { #expect(await !Self.isHeld(bench, path), "\(path)") }
    }

    @Test func aPagesTokenIsHeldWithItsPage() async throws {
        let bench = try FacebookBench([.error(80_001, nil, 400, Self.usage("5", "pages"))])
        let page = ProviderRequest(path: "me/feed")
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(page, as: .page("p5")) }
        #expect(await Self.isHeld(bench, "5/posts"))
        #expect(await Self.isHeld(bench, "me/posts", as: .page("p5")))
        // The same path with another token is about somebody else.
        #expect(await !Self.isHeld(bench, "me/posts", as: .page("p6")))
        #expect(await !Self.isHeld(bench, "me/posts"))
    }

    @Test func anAppsBusinessLimitHoldsNoOtherApp() async throws {
        let store = InMemoryRecoveryStore()
        let bench = try FacebookBench([.answer("{}", Self.usage("5", "pages"))], store: store)
        _ = try await bench.facebook.send(path: "5/feed")
        let same = try FacebookBench([], store: store)
        #expect(await Self.isHeld(same, "5/posts"))
        let other = try FacebookBench([], app: FacebookApp(id: "78"), store: store)
        #expect(await !Self.isHeld(other, "5/posts"))
    }

    @Test func whatIsHeldIsHeldInABatchToo() async throws {
        let bench = try FacebookBench([.error(80_004, nil, 400, Self.usage("1", "ads_management"))])
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "901") }
        let answers = try await bench.facebook.batch([
            FacebookBatchRequest(path: "act_1/ads"), FacebookBatchRequest(path: "901/adsets"),
        ])
        #expect(answers.map(\.outcome.kind) == [.rateLimited, .rateLimited])
        #expect(bench.transport.received.count == 1)
    }

    @Test func aQuotaOfPostsHoldsPublishingAlone() async throws {
        let bench = try FacebookBench([.error(9, 2_207_042, 403)])
        let publish = ProviderRequest(.post, path: "178/media_publish", body: .form(["creation_id": "1"]))
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.facebook.send(publish, as: .stored)
        }
        #expect(error?.kind == .quotaExhausted)
        #expect(error?.retryAfter == .seconds(3600))
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(publish, as: .stored) }
        #expect(bench.transport.received.count == 1)
        #expect(await !Self.isHeld(bench, "178/media"))
    }

    /// Calls of one business leave one after the other, whatever their paths are.
    @Test func callsOfABusinessAreSpacedTogether() async throws {
        let near = ["x-business-use-case-usage": #"{"5":[{"type":"pages","call_count":95}]}"#]
        let bench = try FacebookBench((0..<5).map { _ in .answer("{}", near) })
        for path in ["5/feed", "5/posts", "5/insights", "5_7"] {
            _ = try await bench.skippingWaits { try await bench.facebook.send(path: path) }
        }
        #expect(bench.clock.requestedDelays.count == 2)
        _ = try await bench.skippingWaits { try await bench.facebook.send(path: "6/feed") }
        #expect(bench.clock.requestedDelays.count == 2)
    }

    /// Graph's hosts share its limits.
    @Test func aLimitHoldsAllHosts() async throws {
        let limit = ScriptedTransport.Step.error(4, nil, 403, ["retry-after": "600"])
        let file = FacebookUpload([1, 2, 3, 4])
        let bench = try FacebookBench([limit])
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        let held = await #expect(throws: RecoveryError.self) { try await bench.facebook.upload(file, to: "1/videos") }
        #expect(held?.kind == .rateLimited)
        #expect(bench.transport.received.count == 1)

        let other = try FacebookBench([limit])
        await #expect(throws: RecoveryError.self) { try await other.facebook.upload(file, to: "1/videos") }
        #expect(await Self.isHeld(other, "me"))
    }

    /// One code is the limit of a person and, with its finer code, that of an ad account.
    @Test(
        arguments: [(2_446_079, "act_2/ads", "act_1/campaigns"), (nil, "act_9/ads/other", "act_2/ads")]
            as [(Int?, String, String)]
    )
    func anAdAccountsOwnLimitHoldsNoPerson(subcode: Int?, free: String, held: String) async throws {
        let limit = ScriptedTransport.Step.error(17, subcode, 400, ["retry-after": "600"])
        let bench = try FacebookBench([limit])
        await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "act_1/ads") }
        #expect(await Self.isHeld(bench, held))
        #expect(await Self.isHeld(bench, free) == (subcode == nil))
        // Another person's calls are held by the account's limit alone.
        #expect(await Self.isHeld(bench, "act_1/ads", as: .user("other")) == (subcode != nil))
    }
}
