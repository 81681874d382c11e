import HTTPRecovery

extension FacebookErrorRule {
    /// What a code means in ads, WhatsApp, Instagram or Messenger; nil if these give it no meaning of their own.
    ///
    /// It comes before all other meanings: the products use codes of limits and permissions for what is neither.
    static func product(_ code: Int?, _ subcode: Int?) -> FacebookErrorRule? {
        guard let code else { return nil }
        if let subcode, let meaning = pairs[Pair(code, subcode)] { return meaning }
        return codes[code]
    }

    private struct Pair: Hashable {
        let code: Int
        let subcode: Int

        init(_ code: Int, _ subcode: Int) {
            (self.code, self.subcode) = (code, subcode)
        }
    }

    private static let faulty = FacebookErrorRule.plain(.invalidRequest, [.fixRequest])
    private static let blocked = FacebookErrorRule.plain(.policyBlocked, [])
    private static let unready = FacebookErrorRule.plain(.challengePending, [.poll])
    private static let gone = FacebookErrorRule.plain(.flowExpired, [.restartFlow])
    /// What the business has to put in order in its account.
    private static let unprepared = FacebookErrorRule.plain(.misconfigured, [.contactAdmin], scope: .app)

    private static let pairs: [Pair: FacebookErrorRule] = [
        // The limit of an ad account, which is nobody's own.
        Pair(17, 2_446_079): .limit(.endpoint),
        // Messenger: the time to answer a person is over, which is no missing permission.
        Pair(10, 2_018_278): faulty, Pair(10, 2_534_022): faulty,
        // How often one person may be sent marketing.
        Pair(4, 2_018_354): .longLimit(.account), Pair(9, 2_018_352): .longLimit(.account),
        Pair(200, 2_018_108): blocked, Pair(100, 2_018_001): .plain(.notFound, [.fixRequest]),
        Pair(2, 2_018_344): .settledAtFacebook,
        // Instagram: what is published is first prepared in a container.
        Pair(-1, 2_207_001): .preparationFailed, Pair(-1, 2_207_032): .preparationFailed,
        Pair(-2, 2_207_003): .preparationFailed, Pair(9004, 2_207_052): .preparationFailed,
        Pair(-1, 2_207_053): gone, Pair(-2, 2_207_020): gone, Pair(24, 2_207_006): gone, Pair(24, 2_207_008): gone,
        Pair(1, 2_207_057): faulty,
        // Taken for spam, which is no limit of the app's; posts of a day; an account that is restricted or inactive.
        Pair(4, 2_207_051): blocked, Pair(9, 2_207_042): .plain(.quotaExhausted, [.wait]),
        Pair(25, 2_207_050): .plain(.accountBlocked, [.visitProvider], scope: .account),
    ]

    private static let codes: [Int: FacebookErrorRule] = {
        var table: [Int: FacebookErrorRule] = [
            // Messenger: the person is not available.
            551: blocked,
            // Instagram.
            9007: unready, 352: faulty,
            // WhatsApp: its limits; that of a pair of numbers holds nobody else's messages.
            130_429: .limit(.endpoint), 131_056: .limit(.account),
            131_005: .plain(.permissionDenied, [.reauthenticate, .contactAdmin]),
            131_000: .serverError, 131_016: .serverError, 133_004: .serverError,
            // The number is being maintained.
            131_057: .plain(.unavailable, [.wait]),
            132_001: .plain(.notFound, [.fixRequest]),
            133_005: .plain(.challengeIncorrect, [.askUser]),
        ]
        func set(_ meaning: FacebookErrorRule, _ codes: [Int]) {
            for code in codes { table[code] = meaning }
        }
        set(faulty, [33, 36_000, 36_001, 36_003, 36_004])
        set(
            faulty,
            [
                131_008, 131_009, 131_021, 131_047, 131_051, 131_052, 131_053, 132_000, 132_005, 132_007, 132_012,
            ]
        )
        // The registration of a number and the guesses of its PIN have limits of their own.
        set(.limit(.endpoint), [133_009, 133_015])
        set(.longLimit(.endpoint), [133_008, 133_016])
        // Taken for spam, or too much for this person; the account is restricted, its country, or locked; the person
        // cannot get it.
        set(.plain(.policyBlocked, [.wait]), [131_048, 131_049])
        set(.plain(.policyBlocked, [.contactAdmin]), [130_497, 131_031])
        set(blocked, [131_026, 130_472])
        set(unprepared, [131_030, 131_037, 131_042, 131_045, 132_015, 132_016, 133_006, 133_010])
        return table
    }()
}
