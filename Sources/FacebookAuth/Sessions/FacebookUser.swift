public import HTTPRecovery

/// A person as Facebook shows them to the app (`/me`).
public struct FacebookUser: Sendable, Hashable {
    /// The person's id for this app.
    public var id: String
    /// The name, if it was asked for and is shown.
    public var name: String?
    /// All fields that were read.
    public var fields: JSONValue

    /// Reads an answer; nil if it has no id.
    init?(_ json: JSONValue) {
        guard let id = json["id"]?.codeText?.bounded(to: 64) else { return nil }
        self.id = id
        name = json["name"]?.string?.nonEmpty?.bounded(to: 1024)
        fields = json
    }
}

extension FacebookUser: Redacted {
    /// The id alone: the other fields are about a person.
    public var description: String { "FacebookUser(\(id))" }
}
