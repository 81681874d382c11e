import AuthRecovery
public import HTTPRecovery

/// One page of a list.
public struct FacebookPage: Sendable {
    /// The elements.
    public var data: [JSONValue]
    /// The cursor in front of the first element; nil if the list has none.
    public var before: String?
    /// The cursor behind the last element; nil if the list has none.
    public var after: String?
    /// The URL of the next page, which may hold a token; nil on the last page.
    var next: Secret?

    /// Whether there is another page.
    public var hasNext: Bool { next != nil }

    /// Reads an answer; nil if it holds no list.
    init?(_ json: JSONValue) {
        guard let data = json["data"]?.array else { return nil }
        self.data = data
        let paging = json["paging"]
        before = paging?["cursors"]?["before"]?.codeText
        after = paging?["cursors"]?["after"]?.codeText
        next = paging?["next"]?.string?.nonEmpty.map { Secret($0) }
    }
}
