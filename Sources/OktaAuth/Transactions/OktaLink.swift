import HTTPRecovery
import HTTPTypes

/// A link that a transaction publishes: where its next step is.
public struct OktaLink: Sendable, Hashable {
    /// The name of the step, such as `poll`; nil if the link has none.
    public var name: String?
    /// The URL.
    public var href: String
    /// The methods that it allows; empty if it does not say.
    public var methods: [String]
    /// The media type of what it leads to, for pictures.
    public var type: String?

    /// Reads a link; nil if it leads nowhere.
    init?(_ json: JSONValue) {
        guard let href = json["href"]?.string, !href.isEmpty else { return nil }
        self.href = href
        name = json["name"]?.string?.nonEmpty?.bounded(to: 256)
        methods = json["hints"]?["allow"]?.array?.prefix(16).compactMap { $0.string } ?? []
        type = json["type"]?.string?.bounded(to: 256)
    }

    init(name: String? = nil, href: String) {
        self.name = name
        self.href = href
        self.methods = []
    }
}

/// The links of a transaction or of a factor, by relation; one that is published as an object, or several times as an
/// array, reads alike.
public struct OktaLinks: Sendable, Hashable {
    private var relations: [String: [OktaLink]] = [:]

    /// Reads the `_links` of an object.
    init(_ json: JSONValue?) {
        for member in (json?.members ?? []).prefix(64) {
            let entries = member.value.array ?? [member.value]
            relations[member.key] = entries.prefix(32).compactMap { OktaLink($0) }
        }
    }

    /// The relations that are published.
    public var names: [String] { relations.filter { !$0.value.isEmpty }.keys.sorted() }

    /// The links of a relation, in order.
    public subscript(relation: String) -> [OktaLink] { relations[relation] ?? [] }

    /// The link `next`, if it has one of the names; without a name it counts as any of them.
    func next(_ names: String...) -> OktaLink? {
        self["next"].first { link in link.name.map { names.contains($0) } ?? true }
    }
}
