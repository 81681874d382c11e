import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The pages of a list, read one after the other as they are asked for.
///
/// The URL that an answer names is followed on Graph's own origin alone, without the token that it holds: each page is
/// asked for with the token of the moment.
///
/// ```swift
/// for try await page in facebook.pages("me/feed") {
///     for post in page.data { print(post["id"]?.string ?? "") }
/// }
/// ```
public struct FacebookPages: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = FacebookPage

    let facebook: Facebook
    let first: GraphAPI.Call
    let maximumPages: Int
    let responder: (any ChallengeResponder)?

    /// Reads the pages.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let facebook: Facebook
        var call: GraphAPI.Call?
        var left: Int
        var latest: String?
        let responder: (any ChallengeResponder)?
        /// What all pages present their token with: one list is one person's.
        let authorization: FacebookAuthorization

        /// The next page; nil behind the last.
        ///
        /// - Throws: `RecoveryError` if a page cannot be read; of the kind `unreadable` if the answer names another
        ///   origin, or the same page once more. `CancellationError` as soon as the task is cancelled.
        public mutating func next() async throws -> FacebookPage? {
            guard let call, left > 0 else { return nil }
            left -= 1
            self.call = nil
            let response = try await facebook.recovering(
                call.token,
                responder,
                continuing: authorization,
                isRead: true
            ) { authorization, api in try await api.send(call, authorization: authorization) }
            guard let page = FacebookPage(try facebook.api.json(in: response)) else {
                throw RecoveryError(.unreadable, in: response)
            }
            guard let url = page.next?.reveal() else { return page }
            guard var request = facebook.api.server.request(following: url) else {
                throw RecoveryError(.unreadable, in: response)
            }
            request.removeQuery(["access_token", "appsecret_proof"])
            if request.path == latest { throw RecoveryError(.unreadable, in: response) }
            latest = request.path
            var following = call
            following.request = request
            self.call = following
            return page
        }
    }

    /// Begins to read.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            facebook: facebook,
            call: first,
            left: maximumPages,
            responder: responder,
            authorization: FacebookAuthorization(facebook.api, token: first.token)
        )
    }
}
