/// A sort of calls, as far as paths tell them apart: which business limits a call may count for.
enum FacebookUse: String, CaseIterable {
    case adsInsights = "ads_insights"
    case adsManagement = "ads_management"
    case customAudience = "custom_audience"
    case leadgen
    case messages
    case catalog
    case catalogBatch = "catalog_batch"
    /// What Instagram publishes.
    case publishing
    /// The registration of a number at WhatsApp.
    case registration
    /// Insights of a page, a campaign or a post.
    case insights
    /// Everything else.
    case graph

    static let edges: [Substring: FacebookUse] = [
        "customaudiences": .customAudience, "users": .customAudience, "leads": .leadgen, "leadgen_forms": .leadgen,
        "messages": .messages, "items_batch": .catalogBatch, "batch": .catalogBatch, "products": .catalog,
        "media_publish": .publishing, "register": .registration, "deregister": .registration,
    ]

    /// The uses that a business limit holds, by the type that the usage fields give it; all for one that is not known.
    static func held(byType type: String?) -> [FacebookUse] {
        guard let type, let known = types.first(where: { type.hasPrefix($0.type) }) else { return allCases }
        return known.uses
    }

    /// The types of business limits that a call of this use may count for, by the beginnings of their names; the last
    /// stands for types that are not known.
    var types: [String] { Self.types.filter { $0.uses.contains(self) }.map(\.type) + [Self.otherType] }

    /// The beginning of the name of a type.
    static func family(ofType type: String?) -> String {
        type.flatMap { type in types.first { type.hasPrefix($0.type) }?.type } ?? otherType
    }

    private static let otherType = "other"

    private static let types: [(type: String, uses: [FacebookUse])] = [
        ("ads_insights", [.adsInsights, .insights]), ("ads_management", [.adsManagement, .graph]),
        ("custom_audience", [.customAudience]), ("leadgen", [.leadgen]), ("messenger", [.messages]),
        ("whatsapp", [.messages, .registration, .graph]), ("pages", [.graph, .insights]),
        ("instagram", [.graph, .insights, .publishing]), ("catalog_batch", [.catalogBatch]), ("catalog", [.catalog]),
    ]
}
