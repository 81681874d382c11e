import HTTPRecovery

extension Cassette {
    /// What a cassette keeps of requests and answers.
    ///
    /// What is not named is not kept. Always kept are methods, hosts, status codes, the names of header fields, cookies, items of
    /// queries and forms, and JSON members if they read like names, `true`, `false` and `null`, words of routes in paths, header
    /// fields about content, caching, dates, redirects, challenges and limits, and values whose names are the protocols' own:
    /// words of `error`, `type`, `grant_type` and the like, numbers of `expires_in`, `page` and the like; nothing within a
    /// password, whatever its names are. How a value reads has no part in it: what has another name, or none, is not kept, be
    /// it a word or not. The name of a member that reads like none, such as a date or a key, is `redacted`, and those of
    /// further ones beside it are `redacted~2`, `redacted~3` and so on.
    ///
    /// A segment of a path is a route's if it has fewer than 25 characters, letters and at most one number of less than 4 digits
    /// among them, and none in capitals alone, `v1`, `firstFactor`, not `1234` or `K7XQ`; and if it does not stand where values
    /// do. Behind an identifier, and behind a word such as `users`, `reset` or `token`, those alone are kept that many APIs have,
    /// such as `search` or `verify`, and ``keptSegments``.
    ///
    /// Any other text is there as `redacted`, a number as 0. In answers `redacted-1`, `redacted-2` and so on tell one from the
    /// other: a token that is played is a new one each time that it was, and an identifier of an answer is the same in the
    /// paths that it is used in. `redacted-id-1`, `redacted-id-2` and so on stand for the identifiers of requests: segments of
    /// paths, and values with names such as `id` or `order_id`. In place of a JSON Web Token there is one that nobody has signed,
    /// with the times of the other.
    public struct Redaction: Sendable, Hashable {
        /// The names whose values are kept, whatever they are: of header fields, items of queries and forms, and JSON members;
        /// after a segment of a path with such a name, the next one is kept.
        ///
        /// Upper and lower case are the same. Names of credentials, those with `password`, `token`, `secret`, `cookie`,
        /// `authorization` and the like in them, are not heeded. Default: none.
        public var keptNames: Set<String>

        /// The segments of paths that are kept wherever they stand.
        ///
        /// Upper and lower case are the same. Default: none.
        public var keptSegments: Set<String>

        /// Whether bodies are kept that are neither JSON nor a form: texts, pages, images.
        ///
        /// Default: no.
        public var keepsOtherBodies: Bool

        /// Creates one.
        public init(
            keeping names: Set<String> = [],
            segments: Set<String> = [],
            otherBodies keepsOtherBodies: Bool = false
        ) {
            self.keptNames = names
            self.keptSegments = segments
            self.keepsOtherBodies = keepsOtherBodies
        }

        /// Reads what a cassette was redacted by.
        init(_ cassette: JSONValue) throws(Malformed) {
            self.init(otherBodies: cassette["keeping_other_bodies"]?.bool ?? false)
            keptNames = try Self.names(cassette, "keeping")
            keptSegments = try Self.names(cassette, "keeping_segments")
        }

        private static func names(_ cassette: JSONValue, _ key: String) throws(Malformed) -> Set<String> {
            guard let names = cassette[key] else { return [] }
            guard let texts = names.array?.compactMap(\.string), texts.count == names.array?.count else {
                throw Malformed(place: key, problem: "is no array of names")
            }
            return Set(texts)
        }

        /// What a cassette says of it.
        var members: [JSONValue.Member] {
            [("keeping", keptNames), ("keeping_segments", keptSegments)].filter { !$1.isEmpty }
                .map { .init($0, .array($1.sorted().map { .string($0) })) }
                + (keepsOtherBodies ? [.init("keeping_other_bodies", true)] : [])
        }
    }
}
