import HTTPRecovery

extension Cassette {
    /// What a cassette keeps of requests and answers.
    ///
    /// What is not named is not kept. Always kept are methods, hosts, status codes, the names of header fields, cookies, items of
    /// queries and forms, and JSON members, `true`, `false` and `null`, segments of paths that read like a route's, header
    /// fields about content, caching, dates, redirects, challenges and limits, and, where they look like words or numbers, values
    /// whose names are the protocols' own, such as `error`, `type`, `grant_type` or `expires_in`.
    ///
    /// A segment of a path is a route's if it has fewer than 32 characters, letters and at most one number of less than 4 digits
    /// among them, and none in capitals alone: `v1`, `firstFactor`, not `1234` or `K7XQ`.
    ///
    /// Any other text is there as `redacted`, a number as 0. In answers `redacted-1`, `redacted-2` and so on tell one from the
    /// other: a token that is played is a new one each time that it was, and an identifier of an answer is the same in the
    /// paths that it is used in. In place of a JSON Web Token there is one that nobody has signed, with the times of the other.
    public struct Redaction: Sendable, Hashable {
        /// The names whose values are kept, whatever they are: of header fields, items of queries and forms, and JSON members;
        /// after a segment of a path with such a name, the next one is kept.
        ///
        /// Upper and lower case are the same. Names of credentials, those with `password`, `token`, `secret`, `cookie`,
        /// `authorization` and the like in them, are not heeded. Default: none.
        public var keptNames: Set<String>

        /// Whether bodies are kept that are neither JSON nor a form: texts, pages, images.
        ///
        /// Default: no.
        public var keepsOtherBodies: Bool

        /// Creates one.
        public init(keeping names: Set<String> = [], otherBodies keepsOtherBodies: Bool = false) {
            self.keptNames = names
            self.keepsOtherBodies = keepsOtherBodies
        }

        /// Reads what a cassette was redacted by.
        init(_ cassette: JSONValue) throws(Malformed) {
            self.init(otherBodies: cassette["keeping_other_bodies"]?.bool ?? false)
            guard let names = cassette["keeping"] else { return }
            guard let texts = names.array?.compactMap(\.string), texts.count == names.array?.count else {
                throw Malformed(place: "keeping", problem: "is no array of names")
            }
            keptNames = Set(texts)
        }

        /// What a cassette says of it.
        var members: [JSONValue.Member] {
            (keptNames.isEmpty ? [] : [.init("keeping", .array(keptNames.sorted().map { .string($0) }))])
                + (keepsOtherBodies ? [.init("keeping_other_bodies", true)] : [])
        }
    }
}
