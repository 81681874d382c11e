public import HTTPRecovery
public import HTTPTypes

extension Cassette {
    /// One request and what came of it, without secrets.
    public struct Exchange: Sendable, Hashable, CustomStringConvertible {
        /// The request's method.
        public let method: HTTPRequest.Method
        /// Scheme, host and port that were asked.
        public let origin: String
        /// The request's path and query, redacted.
        public let path: String
        /// The request's body, redacted: JSON in one line with sorted keys, the items of a form, or another text.
        public let body: String
        /// The answer's status; 0 if none came.
        public let status: Int
        /// The exchange as ``RecordedExchange`` reads it.
        public let json: JSONValue

        let response: (head: HTTPResponse, body: [UInt8])?
        /// What ended the exchange in place of the answer's end.
        let error: TransportError?

        /// The request in a line: method, URL and body, redacted.
        public var description: String {
            "\(method) \(origin)\(path)" + (body.isEmpty ? "" : " with the body \(body.prefix(500))")
        }

        /// Compares what was recorded.
        public static func == (one: Self, other: Self) -> Bool { one.json == other.json }

        /// Hashes what was recorded.
        public func hash(into hasher: inout Hasher) { hasher.combine(json) }

        init(_ json: JSONValue, at place: String) throws(Malformed) {
            func fail(_ key: String, _ problem: String) -> Malformed {
                Malformed(place: place + key, problem: problem)
            }
            let record: RecordedExchange
            do throws(RecordedExchange.Malformed) {
                record = try RecordedExchange(json, systemTime: Timestamp(sinceEpoch: .zero))
            } catch {
                throw fail("", error.description)
            }
            let request = json["request"] ?? .null
            guard let origin = request["origin"]?.string else {
                throw fail(".request.origin", "is missing, or no text")
            }
            let path = request["path"]?.string ?? "/"
            do throws(Origin.InvalidURL) {
                _ = try HTTPRequest(url: origin + path)
            } catch {
                throw fail(".request", error.description)
            }
            for (key, headers) in [("", json["headers"]), (".request", request["headers"])] {
                guard headers == nil || headers?.members != nil else { throw fail(key + ".headers", "is no object") }
            }
            if let coded = json["body_base64"] {
                guard coded.string.flatMap({ Base64.decode($0.utf8) }) != nil, json["body"] == nil else {
                    throw fail(".body_base64", "is no Base64, or stands beside a body")
                }
            }
            if let word = json["error"], word.string.flatMap(TransportError.Certainty.init) == nil {
                let words = TransportError.Certainty.allCases.map(\.rawValue).joined(separator: ", ")
                throw fail(".error", "is \(word), and none of \(words)")
            }
            switch record.exchange.result {
            case .response(let head, let body):
                response = (head, body)
                error = json["error"] == nil ? nil : RecordedExchange.error(json)
                status = head.status.code
            case .failure(let failure):
                response = nil
                error = failure
                status = 0
            }
            method = record.exchange.method
            self.origin = origin
            self.path = path
            body = request["body"].map { $0.string ?? $0.withSortedKeys.description } ?? ""
            self.json = json
        }

        /// What answers in the server's place.
        ///
        /// - Throws: What the attempt ended with, if no answer had begun.
        func answer() throws(TransportError) -> TransportResponse {
            guard let response else { throw error ?? TransportError(.connectionLost, .unknown) }
            return TransportResponse(head: response.head, body: .whole(response.body, endingWith: error))
        }
    }
}

extension MessageBody {
    /// A body that is in memory, and breaks off if there is an error.
    static func whole(_ bytes: [UInt8], endingWith error: (any Error)?) -> MessageBody {
        guard let error else { return MessageBody(bytes) }
        return MessageBody {
            AsyncThrowingStream { continuation in
                if !bytes.isEmpty { continuation.yield(bytes[...]) }
                continuation.finish(throwing: error)
            }
        }
    }
}
