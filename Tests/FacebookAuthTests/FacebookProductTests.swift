import FacebookAuth
import HTTPRecovery
import HTTPTypes
import Testing

@Suite("The codes of the products on Graph")
struct FacebookProductTests {
    private static let messages = "/v25.0/5/messages"
    private static let media = "/v25.0/178/media"
    private static let publishing = "/v25.0/178/media_publish"

    private static func rows(
        _ codes: [Int],
        status: Int = 400,
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        processed: Outcome.Processed = .no
    ) -> [Row] {
        codes.map { Row($0, status: status, kind, remedies, processed: processed, .post, at: messages) }
    }

    private static let whatsApp = #","error_data":{"messaging_product":"whatsapp","details":"d"}"#

    static let whatsAppRows: [Row] =
        rows([4, 80_007, 130_429, 131_056, 133_009, 133_015], .rateLimited, [.wait])
        // Whoever has registered too often, or guessed, waits for hours.
        + [133_008, 133_016].map {
            Row($0, .rateLimited, [.wait], processed: .no, delay: .seconds(3600), .post, at: messages)
        }
        + rows([130_429, 131_056], status: 429, .rateLimited, [.wait])
        + rows([131_048, 131_049], .policyBlocked, [.wait])
        + rows([130_497, 131_031], status: 403, .policyBlocked, [.contactAdmin])
        + [
            Row(368, status: 403, .policyBlocked, [.contactAdmin], more: whatsApp, .post, at: messages),
            Row(
                190,
                status: 401,
                .credentialRejected,
                [.reauthenticate],
                .clear,
                .access,
                processed: .no,
                .post,
                at: messages
            ),
            Row(
                0,
                status: 401,
                .credentialRejected,
                [.reauthenticate],
                .clear,
                .access,
                processed: .no,
                .post,
                at: messages
            ),
            Row(131_005, .permissionDenied, [.contactAdmin], presenting: .client),
        ]
        + rows([1, 2], .unavailable, [.retry], processed: .unknown)
        + rows([131_000], status: 500, .unavailable, [.retry], processed: .unknown)
        + rows([131_016, 133_004], status: 503, .unavailable, [.retry], processed: .unknown)
        + rows([131_057], .unavailable, [.wait])
        + rows([3], .permissionDenied, [.contactAdmin])
        + rows([10, 200, 299, 131_005], status: 403, .permissionDenied, [.reauthenticate, .contactAdmin])
        + rows(
            [
                33, 100, 131_008, 131_009, 131_021, 131_047, 131_051, 131_052, 131_053, 132_000, 132_005, 132_007,
                132_012,
            ],
            .invalidRequest,
            [.fixRequest]
        )
        + rows([131_026, 130_472], .policyBlocked)
        + rows(
            [131_030, 131_037, 131_042, 131_045, 132_015, 132_016, 133_006, 133_010],
            .misconfigured,
            [.contactAdmin]
        )
        + rows([132_001], status: 404, .notFound, [.fixRequest])
        + rows([133_005], .challengeIncorrect, [.askUser])

    private static let final = #","is_transient":false,"error_user_msg":"Sorry.""#

    static let instagramRows: [Row] =
        [2_207_027, 2_207_008].map {
            Row(9007, sub: $0, .challengePending, [.poll], more: final, .post, at: publishing)
        }
        + [(-1, 2_207_001), (-1, 2_207_032), (-2, 2_207_003), (9004, 2_207_052)].flatMap { code, subcode in
            [
                Row(code, sub: subcode, .unavailable, [.retry], more: final, .post, at: media),
                // What may have published is not done twice.
                Row(
                    code,
                    sub: subcode,
                    .unavailable,
                    [.retry],
                    processed: .unknown,
                    more: final,
                    .post,
                    at: publishing
                ),
            ]
        }
        + [(-1, 2_207_053), (-2, 2_207_020), (24, 2_207_006), (24, 2_207_008)].map { code, subcode in
            Row(code, sub: subcode, .flowExpired, [.restartFlow], more: final, .post, at: publishing)
        }
        + [
            Row(4, sub: 2_207_051, status: 403, .policyBlocked, more: final, .post, at: publishing),
            Row(9, sub: 2_207_042, status: 403, .quotaExhausted, [.wait], more: final, .post, at: publishing),
            Row(25, sub: 2_207_050, .accountBlocked, [.visitProvider], more: final, .post, at: publishing),
        ]
        + [
            (36_000, 2_207_004), (36_001, 2_207_005), (36_003, 2_207_009), (36_004, 2_207_010), (352, 2_207_026),
            (100, 2_207_023), (1, 2_207_057),
        ].map { code, subcode in
            Row(code, sub: subcode, .invalidRequest, [.fixRequest], more: final, .post, at: media)
        }

    static let messengerRows: [Row] = [
        Row(10, sub: 2_018_278, status: 403, .invalidRequest, [.fixRequest], processed: .no, .post, at: messages),
        Row(10, sub: 2_534_022, status: 403, .invalidRequest, [.fixRequest], processed: .no, .post, at: messages),
        Row(613, .rateLimited, [.wait], processed: .no, .post, at: messages),
        Row(613, sub: 1_893_016, .rateLimited, [.wait], processed: .no, .post, at: messages),
        Row(4, sub: 2_018_354, .rateLimited, [.wait], processed: .no, delay: .seconds(3600), .post, at: messages),
        Row(9, sub: 2_018_352, .rateLimited, [.wait], processed: .no, delay: .seconds(3600), .post, at: messages),
        Row(551, .policyBlocked, processed: .no, .post, at: messages),
        Row(551, sub: 1_545_041, .policyBlocked, processed: .no, .post, at: messages),
        Row(200, sub: 2_018_108, status: 403, .policyBlocked, processed: .no, .post, at: messages),
        Row(100, sub: 2_018_001, .notFound, [.fixRequest], processed: .no, .post, at: messages),
        Row(2, sub: 2_018_344, .userActionRequired, [.visitProvider], processed: .no, .post, at: messages),
        Row(1, sub: 1_357_046, .unavailable, [.retry], processed: .unknown, .post, at: messages),
        Row(1, sub: 1_357_046, .unknown, processed: .unknown, more: final, .post, at: messages),
    ]

    @Test(arguments: whatsAppRows + instagramRows + messengerRows)
    func everyCodeHasItsMeaning(row: Row) {
        #expect(Int(row.check().code ?? "") != nil)
    }

    /// What a container says about itself is no failure of the question, unless it is gone.
    @Test(
        arguments: [
            ("IN_PROGRESS", .continue, [.poll]), ("EXPIRED", .flowExpired, [.restartFlow]), ("FINISHED", .ok, []),
            ("PUBLISHED", .ok, []), ("ERROR", .flowExpired, [.restartFlow]),
        ] as [(String, Outcome.Kind, [Outcome.Remedy])]
    )
    func aContainerTellsWhetherItIsReady(word: String, kind: Outcome.Kind, remedies: [Outcome.Remedy]) {
        let outcome = Recorded(status: 200, body: #"{"status_code":"\#(word)","id":"178"}"#, path: "/v25.0/178").outcome
        #expect(outcome.kind == kind && outcome.remedies == remedies)
        #expect(outcome.statusType == word)
        #expect(outcome.tokenAction == .keep)
    }

    @Test(
        arguments: [
            ("processing", .continue, [.poll]), ("error", .flowExpired, [.restartFlow]), ("ready", .ok, []),
            ("uploading", .ok, []),
        ] as [(String, Outcome.Kind, [Outcome.Remedy])]
    )
    func aVideoTellsWhetherItIsReady(word: String, kind: Outcome.Kind, remedies: [Outcome.Remedy]) {
        let body = #"{"status":{"video_status":"\#(word)"},"id":"901"}"#
        let outcome = Recorded(status: 200, body: body, path: "/v25.0/901").outcome
        #expect(outcome.kind == kind && outcome.remedies == remedies)
        #expect(outcome.statusType == word && outcome.tokenAction == .keep)
        #expect(Recorded(status: 200, body: body, method: .post, path: "/v25.0/901").outcome.kind == .ok)
    }

    // MARK: Texts

    /// Texts of limits that come without a code, and whose limits they are.
    static let texts: [(String, Outcome.Scope)] = [
        ("Application request limit reached", .app), ("User request limit reached", .credential),
        ("page request limit reached", .endpoint), ("Calls to this api have exceeded the rate limit.", .endpoint),
        ("There have been too many calls from this ad-account. Wait a bit and try again.", .endpoint),
        ("There have been too many calls from this page. Wait a bit.", .endpoint), ("Rate limit hit", .endpoint),
    ]

    @Test(arguments: texts)
    func aLimitIsKnownByItsTextAlone(text: String, scope: Outcome.Scope) {
        let bodies = [
            #"{"error":{"message":"\#(text)","type":"OAuthException"}}"#,
            #"{"error":{"message":"\#(text)","code":""}}"#,
            #"{"error":{"message":"\#(text.uppercased())","code":0}}"#, #"{"error":"\#(text)"}"#,
            #"{"error_msg":"\#(text)"}"#, #"{"error_type":"OAuthException","code":400,"error_message":"\#(text)"}"#,
            text,
            #""\#(text)""#,
        ]
        for body in bodies {
            for status in [200, 400, 403, 500] {
                let outcome = Recorded(status: status, body: body, method: .post, path: "/v25.0/1/feed").outcome
                #expect(outcome.kind == .rateLimited, "\(status) \(body)")
                #expect(outcome.remedies == [.wait])
                #expect(outcome.scope == scope)
                #expect(outcome.processed == .no)
                #expect(outcome.code == nil || outcome.code == "0")
            }
            // A code that is there always wins.
            let coded = Recorded(body: Recorded.error(100, nil, text)).outcome
            #expect(coded.kind == .invalidRequest)
        }
    }

    @Test(
        arguments: [
            (#"{"error":{"message":"(#4) Application request limit reached"}}"#, "4", .rateLimited),
            (#"{"error":{"message":"(#80004) There have been","code":""}}"#, "80004", .rateLimited),
            (#"{"error":{"message":"(#190) dead","code":0}}"#, "190", .credentialRejected),
            (#"{"error":"(#10) This needs a permission"}"#, "10", .permissionDenied),
            (#"{"error_message":"(#803) missing"}"#, "803", .notFound),
            ("(#2) Service temporarily down", "2", .unavailable),
            (#"{"error":{"message":"(#4) m","code":100}}"#, "100", .invalidRequest),
            (#"{"error":{"message":"(#x) m"}}"#, nil, .unknown), (#"{"error":{"message":"(#4 m"}}"#, nil, .unknown),
            (#"{"error":{"message":"a (#4) m"}}"#, nil, .unknown),
            (#"{"error":{"message":"(#99999999999999999999) m"}}"#, nil, .unknown),
        ] as [(String, String?, Outcome.Kind)]
    )
    func aMessageThatBeginsWithItsCodeStatesIt(body: String, code: String?, kind: Outcome.Kind) {
        let outcome = Recorded(body: body).outcome
        #expect(outcome.kind == kind)
        #expect(outcome.code == code)
    }

    @Test func aTextThatSpeaksOfNoLimitIsNoError() {
        #expect(Recorded(status: 200, body: #"{"id":"1","error_msg":"hello"}"#).outcome.kind == .ok)
        #expect(Recorded(status: 200, body: #"{"message":"(#4) hello","id":"1"}"#).outcome.kind == .ok)
    }

    // MARK: Unknown codes

    @Test(arguments: [500, 502, 503, 504, 408])
    func theStatusOfAnOutageDecidesAboutUnknownCodes(status: Int) {
        let outcome = Recorded(status: status, body: Recorded.error(987_654, 3)).outcome
        #expect(outcome.kind == .unavailable)
        #expect(outcome.remedies == [.retry])
        #expect(outcome.code == "987654" && outcome.subcode == "3")
        #expect(outcome.tokenAction == .keep)
        let final = Recorded(status: status, body: Recorded.error(987_654, more: Self.final)).outcome
        #expect(final.kind == .unknown && final.remedies.isEmpty && final.userMessage == "Sorry.")
    }
}
