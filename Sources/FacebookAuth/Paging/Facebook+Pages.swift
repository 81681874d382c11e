public import AuthRecovery
import HTTPRecovery

extension Facebook {
    /// The pages of a list.
    ///
    /// - Parameters:
    ///   - path: The list's path below the version, such as `me/feed`.
    ///   - fields: Fields of the query.
    ///   - cursor: The cursor to begin behind, such as `FacebookPage.after` of an earlier page; nil begins at the start.
    ///   - token: Which token is presented.
    ///   - maximumPages: The most pages that are read; default: 1000.
    ///   - responder: Signs in again if the stored token was definitely refused, and the page is read once more, unless
    ///     another person has signed in. Nil, the default, leaves that to the caller.
    public func pages(
        _ path: String,
        fields: FormFields = FormFields(),
        after cursor: String? = nil,
        as token: FacebookToken = .stored,
        maximumPages: Int = 1000,
        answering responder: (any ChallengeResponder)? = nil
    ) -> FacebookPages {
        var fields = fields
        fields.add("after", cursor)
        return FacebookPages(
            facebook: self,
            first: GraphAPI.Call(path: path, query: fields, token: token),
            maximumPages: max(0, maximumPages),
            responder: responder
        )
    }
}
