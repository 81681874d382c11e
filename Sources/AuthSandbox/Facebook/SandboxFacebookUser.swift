import HTTPRecovery

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
    /// `instagram`: the ids of their Instagram accounts.
    public var instagram: [String] = []
    /// `whatsapp`: the ids of their numbers at WhatsApp.
    public var whatsApp: [String] = []
    /// `leaves_out`: the ids of pages that the person leaves out when they are asked for permissions about pages: these are
    /// granted, and such a page is as if it did not exist.
    public var leavesOut: [String] = []

    /// Creates somebody whose tokens are good.
    public init() {}
}

extension SandboxFacebookUser: SandboxPart {
    static let key = "facebook"

    enum CodingKeys: String, CodingKey {
        case id, behaviour, permissions, declines, pages, instagram
        case whatsApp = "whatsapp"
        case leavesOut = "leaves_out"
    }

    func check(path: String) throws(SandboxError) {
        for id in pages + instagram + whatsApp + leavesOut + [id].compactMap(\.self)
        where !FacebookRoute.isID(id) || id.contains("_") {
            throw SandboxError(.invalidInput, "\(path): \"\(id)\" is no id, which is digits")
        }
    }
}

extension SandboxUser {
    /// `facebook`: what this person has at Facebook.
    public var facebook: SandboxFacebookUser {
        get { parts[SandboxFacebookUser.self] }
        set { parts[SandboxFacebookUser.self] = newValue }
    }
}
