/// What a person has at Facebook: the key `facebook` of a scenario's user.
public struct SandboxFacebookUser: Sendable, Equatable {
    /// `id`: the person's id; nil for one that follows from the seed.
    public var id: String?
    /// `behaviour`: how the tokens behave that a sign-in issues, such as `expired`.
    ///
    /// Default: `good`.
    public var behaviour = SandboxFacebookBehaviour.good
    /// `permissions`: what the app was granted before it asked for anything.
    ///
    /// Default: `public_profile`.
    public var permissions = ["public_profile"]
    /// `declines`: what the person declines when they are asked for it.
    public var declines: [String] = []
    /// `pages`: the ids of pages that the person manages.
    public var pages: [String] = []

    /// Creates somebody whose tokens are good.
    public init() {}
}

extension SandboxFacebookUser {
    init(json: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(json, path: path)
        if let id = try reader.string("id") {
            guard FacebookRoute.isID(id), !id.contains("_") else { throw reader.wrong("id", "digits") }
            self.id = id
        }
        if let word = try reader.word("behaviour", of: SandboxFacebookBehaviour.all.map(\.name)) {
            behaviour = SandboxFacebookBehaviour(word: word) ?? behaviour
        }
        permissions = try reader.strings("permissions") ?? permissions
        declines = try reader.strings("declines") ?? declines
        pages = try reader.strings("pages") ?? pages
        for page in pages where !FacebookRoute.isID(page) || page.contains("_") {
            throw reader.wrong("pages", "a list of numbers as text")
        }
        try reader.finish()
    }
}
