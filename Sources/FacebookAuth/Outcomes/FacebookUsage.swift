import HTTPRecovery
public import HTTPTypes

/// How much of Facebook's limits is used, as the header fields of an answer tell; they stand on successes too.
///
/// The app's share and a page's come in percent, an ad account's with a reset in seconds, a business's with the minutes
/// until access is regained. What cannot be read counts as absent.
public struct FacebookUsage: Sendable, Hashable {
    /// What a limit is counted for.
    public enum Scope: Sendable, Hashable {
        /// The app (`X-App-Usage`).
        case app
        /// The page whose token was presented (`X-Page-Usage`).
        case page
        /// The ad account (`X-Ad-Account-Usage`, `X-FB-Ads-Insights-Throttle`).
        case adAccount
        /// A business or an account of it, with its id (`X-Business-Use-Case-Usage`).
        case business(String)
    }

    /// One limit.
    public struct Entry: Sendable, Hashable {
        /// What it is counted for.
        public var scope: Scope
        /// The type of use, such as `ads_insights`; nil if there are no types.
        public var type: String?
        /// How much is used, in percent; 100 and more is blocked.
        public var percent: Double
        /// The time until it is free again, if it is stated and not zero.
        public var regain: Duration?
        /// The tier of access, such as `standard_access`.
        public var tier: String?

        /// Creates an entry.
        public init(
            scope: Scope,
            type: String? = nil,
            percent: Double,
            regain: Duration? = nil,
            tier: String? = nil
        ) {
            self.scope = scope
            self.type = type
            self.percent = percent
            self.regain = regain
            self.tier = tier
        }
    }

    /// The most entries that are read of an answer.
    private static let maximumEntries = 256

    /// The limits that are reported, in the order of their fields.
    public private(set) var entries: [Entry] = []

    /// Reads the fields of an answer.
    public init(_ fields: HTTPFields) {
        for (name, scope) in [("x-app-usage", Scope.app), ("x-page-usage", .page)] {
            for line in fields.lines(name) { addShares(line, scope) }
        }
        for line in fields.lines("x-ad-account-usage") { addAdAccount(line) }
        for line in fields.lines("x-business-use-case-usage") { addBusiness(line) }
        for line in fields.lines("x-fb-ads-insights-throttle") { addInsights(line) }
    }

    /// The highest share of all limits in percent; 0 if none is reported.
    public var percent: Double { entries.map(\.percent).max() ?? 0 }

    /// Whether one of the limits is used up.
    public var isBlocked: Bool { percent >= 100 }

    /// The ids of the businesses and accounts that are spoken of.
    var businesses: Set<String> {
        Set(entries.compactMap { if case .business(let id) = $0.scope { id } else { nil } })
    }

    /// The time that the fields state for a refusal with a code: the time until the business limit of the code's type is
    /// free again, else the longest of all, else the reset of the ad account; nil if none is stated.
    public func wait(forCode code: Int?) -> Duration? {
        let business = entries.filter { if case .business = $0.scope { true } else { false } }
        let type = Self.type(ofCode: code)
        let matching = business.filter { entry in type.map { entry.type?.hasPrefix($0) == true } ?? false }
        return matching.compactMap(\.regain).max() ?? business.compactMap(\.regain).max()
            ?? entries.filter { $0.scope == .adAccount }.compactMap(\.regain).max()
    }

    /// The time for a refusal of a call: what is counted for another object than the call's holds only for that one.
    func wait(forCode code: Int?, at endpoint: FacebookEndpoint) -> Duration? {
        let ids = businesses
        // Where the path does not name an object by its id, any of them may be it.
        guard !ids.isEmpty, let object = endpoint.object, object.utf8.allSatisfy(\.isDigit) else {
            return wait(forCode: code)
        }
        let isReported = ids.contains { FacebookEndpoint.object($0[...]) == object }
        // A campaign, a picture, a number at WhatsApp: the one account that is reported is its owner.
        let isOfOwner = !isReported && ids.count == 1 && !endpoint.namesOwner
        var own = self
        own.entries.removeAll { entry in
            guard case .business(let id) = entry.scope else { return false }
            return !isOfOwner && FacebookEndpoint.object(id[...]) != object
        }
        return own.wait(forCode: code)
    }

    /// The type of use, or the beginning of its name, that a code speaks of.
    static func type(ofCode code: Int?) -> String? { code.flatMap { types[$0] } }

    private static let types: [Int: String] = [
        17: "ads_management", 32: "pages", 80_000: "ads_insights", 80_001: "pages", 80_002: "instagram",
        80_003: "custom_audience",
        80_004: "ads_management", 80_005: "leadgen", 80_006: "messenger", 80_007: "whatsapp", 80_008: "whatsapp",
        80_009: "catalog_management", 80_014: "catalog_batch", 130_429: "whatsapp", 131_056: "whatsapp",
    ]

    // MARK: Reading

    private mutating func add(_ entry: Entry) {
        if entries.count < Self.maximumEntries { entries.append(entry) }
    }

    /// Of three counters the highest counts; older servers send a bare percentage.
    private mutating func addShares(_ line: String, _ scope: Scope) {
        if let value = try? JSONValue(parsing: line), value.members != nil {
            guard let percent = Self.highest(value) else { return }
            add(Entry(scope: scope, percent: percent))
        } else {
            var text = line.filter { $0 != " " && $0 != "\"" }
            if text.hasSuffix("%") { text.removeLast() }
            guard let percent = Self.percent(.string(text)) else { return }
            add(Entry(scope: scope, percent: percent))
        }
    }

    private mutating func addAdAccount(_ line: String) {
        guard let value = try? JSONValue(parsing: line), value.members != nil else { return }
        let reset = Self.span(value["reset_time_duration"], unit: 1)
        let percent = Self.percent(value["acc_id_util_pct"])
        guard percent != nil || reset != nil else { return }
        add(
            Entry(
                scope: .adAccount,
                percent: percent ?? 0,
                regain: reset,
                tier: value["ads_api_access_tier"]?.string?.bounded(to: 64)
            )
        )
    }

    private mutating func addBusiness(_ line: String) {
        guard let members = (try? JSONValue(parsing: line))?.members else { return }
        // A key may be repeated, so each member counts.
        for member in members.prefix(Self.maximumEntries) {
            let id = member.key.bounded(to: 64)
            for value in (member.value.array ?? [member.value]).prefix(Self.maximumEntries) where value.members != nil {
                add(
                    Entry(
                        scope: .business(id),
                        type: value["type"]?.string?.lowercased().bounded(to: 64),
                        percent: Self.highest(value) ?? 0,
                        regain: Self.span(value["estimated_time_to_regain_access"], unit: 60),
                        tier: value["ads_api_access_tier"]?.string?.bounded(to: 64)
                    )
                )
            }
        }
    }

    private mutating func addInsights(_ line: String) {
        guard let value = try? JSONValue(parsing: line) else { return }
        let shares = [value["app_id_util_pct"], value["acc_id_util_pct"]].compactMap { Self.percent($0) }
        guard let percent = shares.max() else { return }
        add(Entry(scope: .adAccount, type: "ads_insights", percent: percent))
    }

    private static func highest(_ value: JSONValue) -> Double? {
        ["call_count", "total_time", "total_cputime"].compactMap { percent(value[$0]) }.max()
    }

    private static func percent(_ value: JSONValue?) -> Double? {
        guard let number = value?.lenientNumber?.double, number >= 0 else { return nil }
        return min(number, 1_000_000)
    }

    /// A span in seconds or minutes; nil if it is none, or zero, which says nothing about a block.
    private static func span(_ value: JSONValue?, unit: Double) -> Duration? {
        guard let number = value?.lenientNumber else { return nil }
        let seconds = number.seconds.scaled(by: unit)
        return seconds > .zero ? seconds : nil
    }
}

extension FacebookUsage.Entry {
    /// Whether it is counted for a business or an account of it.
    var isOfBusiness: Bool { if case .business = scope { true } else { false } }
}
