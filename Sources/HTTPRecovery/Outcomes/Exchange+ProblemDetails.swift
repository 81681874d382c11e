public import HTTPTypes

extension Exchange {
    /// The details of a problem in a response's body (RFC 9457), read tolerantly: a member of the wrong type is absent.
    public struct ProblemDetails: Sendable, Hashable {
        /// The URI that names the type of the problem; nil if there is none or it is `about:blank`.
        public var type: String?
        /// A short summary of the type.
        public var title: String?
        /// The status that the server meant.
        public var status: Int?
        /// An explanation of this occurrence.
        public var detail: String?
        /// The URI of this occurrence.
        public var instance: String?
        /// The whole object, extensions included.
        public var object: JSONValue

        /// Reads an object; nil if the value is none.
        public init?(_ value: JSONValue) {
            guard case .object = value else { return nil }
            let type = value["type"]?.string
            self.type = type == "about:blank" || type == "" ? nil : type
            self.title = value["title"]?.string
            self.status = value["status"]?.number.flatMap { Int(exactly: $0.saturatedInt) }
            self.detail = value["detail"]?.string
            self.instance = value["instance"]?.string
            self.object = value
        }

        /// Whether the response's content type is `application/problem+json`.
        public static func isDeclared(by fields: HTTPFields) -> Bool {
            guard let type = fields.singleLine("content-type") else { return false }
            // Asked of every response: most types are too short, or have no plus there.
            let bytes = type.utf8
            guard bytes.count >= 24, bytes[bytes.index(bytes.startIndex, offsetBy: 19)] == UInt8(ascii: "+") else {
                return false
            }
            let essence = bytes.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
            return essence.elementsEqual("application/problem+json".utf8) { $0 | 0x20 == $1 }
        }

        /// The names of the policies that were violated, for the quota types of draft-ietf-httpapi-ratelimit-headers.
        public var violatedPolicies: [String] {
            (object["violated-policies"]?.array ?? []).prefix(64).compactMap(\.string)
        }

        /// The parameter that the problem concerns: the first entry of `errors` (RFC 9457 section 3) or of
        /// `invalid-params` (RFC 7807 section 3), by its pointer or name.
        public var parameter: String? {
            for list in ["errors", "invalid-params", "invalid_params"] {
                guard let entry = object[list]?[0] else { continue }
                if let pointer = entry["pointer"]?.string { return Self.name(ofPointer: pointer) }
                for key in ["name", "parameter", "field"] {
                    if let name = entry[key]?.string, !name.isEmpty { return name }
                }
            }
            return nil
        }

        /// The quota problem that the type names, if it is one of the registered ones.
        var quotaType: QuotaType? {
            let prefix = "https://iana.org/assignments/http-problem-types#"
            guard let type, type.hasPrefix(prefix) else { return nil }
            return QuotaType(rawValue: String(type.dropFirst(prefix.count)))
        }

        enum QuotaType: String {
            case exceeded = "quota-exceeded"
            case reducedCapacity = "temporary-reduced-capacity"
            case abnormalUsage = "abnormal-usage-detected"
        }

        /// A JSON pointer (RFC 6901), as a fragment or bare, without its decoration: `age` for `#/age`.
        private static func name(ofPointer pointer: String) -> String {
            var rest = pointer[...]
            if rest.hasPrefix("#") { rest = rest.dropFirst() }
            if rest.hasPrefix("/") { rest = rest.dropFirst() }
            return rest.isEmpty ? pointer : String(rest)
        }
    }
}
