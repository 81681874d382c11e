import HTTPRecoveryTesting

// Limits: calls made while one is in force and known make it longer.
extension FacebookWorld {
    /// Counts a call, and refuses one that a limit holds.
    mutating func admit(_ exchange: FacebookExchange, by person: String? = nil) throws(FacebookFailure) {
        counters.calls += 1
        blocks.removeAll { $0.until <= exchange.now }
        let object = countedObject(of: exchange)
        if let index = blocks.firstIndex(where: { Self.holds($0, object, person) }) {
            counters.limited += 1
            if blocks[index].isKnown {
                counters.earlyCalls += 1
                blocks[index].until += exchange.settings.earlyCallPenalty
            }
            blocks[index].isKnown = true
            throw Self.failure(of: blocks[index], object, exchange)
        }
        guard let limit = exchange.settings.appLimit else { return }
        if exchange.now - window.start >= limit.per { window = (exchange.now, 0) }
        guard window.count < limit.count else {
            counters.limited += 1
            var block = FacebookBlock(code: 4, subject: nil, until: window.start + limit.per)
            block.isKnown = true
            blocks.append(block)
            throw Self.failure(of: block, object, exchange)
        }
        window.count += 1
    }

    /// How much of the app's limit is used, in percent; nil without one, and near zero, as at Facebook's.
    func usedShare(_ settings: SandboxFacebookSettings) -> Int64? {
        guard let limit = settings.appLimit, window.count > 0 else { return nil }
        return window.count * 100 / limit.count
    }

    /// The account or page that a call counts for: a page's id stands in front of its posts' ids, and `me` is the page whose
    /// token is presented.
    private func countedObject(of exchange: FacebookExchange) -> String {
        let first = exchange.parts.first ?? ""
        if first == "me" { return exchange.token.flatMap { tokens[$0]?.page } ?? first }
        return first.hasPrefix("act_") ? first : String(first.prefix { $0 != "_" })
    }

    private static func holds(_ block: FacebookBlock, _ object: String, _ person: String?) -> Bool {
        switch block.code {
        case 80_001, 80_002, 80_005...80_008,
            32 where block.subject.map(FacebookRoute.isID) ?? false:
            return block.subject == object
        case 80_000...80_099:
            return object.hasPrefix("act_") && (block.subject == nil || block.subject == object)
        case 17, 32, 613: return person != nil && (block.subject == nil || block.subject == person)
        default: return true
        }
    }

    private static func failure(
        of block: FacebookBlock,
        _ object: String,
        _ exchange: FacebookExchange
    ) -> FacebookFailure {
        let left = max(1, block.until - exchange.now)
        let account = object.hasPrefix("act_") ? String(object.dropFirst(4)) : FacebookRoute.isID(object) ? object : nil
        let isBusiness = FacebookFailure.businessType(block.code) != nil
        var failure = FacebookFailure(block.code, isBusiness ? 2_446_079 : nil)
        failure.isTransient = exchange.settings.limitIsTransient
        failure.headers = FacebookFailure.usageHeaders(
            block.code,
            minutes: (left + 59_999) / 60_000,
            account: account ?? "1"
        )
        if exchange.settings.limitStatesTime {
            failure.headers.append(.init(name: "Retry-After", value: String((left + 999) / 1000)))
        }
        return failure
    }
}
