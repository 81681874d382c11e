import HTTPRecovery

/// What has happened at Facebook.
public struct SandboxFacebookCounters: Encodable, Sendable, Equatable {
    /// `calls`: how many calls of Graph there were, items of batches included.
    public var calls: Int64 = 0
    /// `posts`: how many posts were made.
    public var posts: Int64 = 0
    /// `duplicates`: how many posts were refused because they repeat the one before.
    public var duplicates: Int64 = 0
    /// `exchanges`: how many tokens were exchanged for one that lives longer.
    public var exchanges: Int64 = 0
    /// `codes`: how many codes were exchanged for a token.
    public var codes: Int64 = 0
    /// `inspections`: how many tokens were asked about.
    public var inspections: Int64 = 0
    /// `refused_proofs`: how many calls had no proof of the app's secret, or a wrong one.
    public var refusedProofs: Int64 = 0
    /// `limited`: how many calls a limit has refused.
    public var limited: Int64 = 0
    /// `early_calls`: how many of them came while their block was known, which makes it longer.
    public var earlyCalls: Int64 = 0
    /// `devices`: how many device logins were begun.
    public var devices: Int64 = 0
    /// `polls`: how often one was asked about.
    public var polls: Int64 = 0
    /// `early_polls`: how many of them came too soon.
    public var earlyPolls: Int64 = 0
    /// `batches`: how many batches came.
    public var batches: Int64 = 0
    /// `chunks`: how many chunks of videos came.
    public var chunks: Int64 = 0
    /// `videos`: how many videos were published.
    public var videos: Int64 = 0
    /// `photos`: how many photos came.
    public var photos: Int64 = 0
    /// `media`: how many media were published at Instagram.
    public var media: Int64 = 0
    /// `messages`: how many messages of WhatsApp's were sent.
    public var messages: Int64 = 0
    /// `files`: how many of the app's files came whole.
    public var files: Int64 = 0

    /// Nothing has happened.
    public init() {}
}
