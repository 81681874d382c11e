import HTTPRecovery

/// The parameters of an OAuth request, read strictly: each name once, well encoded, and not too many (RFC 6749
/// section 3.2).
struct OAuthForm: Sendable {
    static let maximumLength = 256 * 1024
    private static let maximumFields = 100
    /// RFC 8693 section 2.1 lets these stand more than once.
    private static let repeatable: Set<String> = ["resource", "audience"]

    private var values: [String: [String]] = [:]

    /// One without parameters.
    init() {}

    /// Reads the body of a POST, or the query of another request.
    init(_ request: SandboxRequest) throws(OAuthFailure) {
        let isPost = request.method == "POST"
        if isPost, request.body.count > Self.maximumLength {
            throw OAuthFailure("invalid_request", "The body is too long.", status: 413)
        }
        guard !isPost || request.body.isEmpty || Masking.isForm(request) else {
            throw .invalidRequest("The body has to be application/x-www-form-urlencoded.")
        }
        let pairs = isPost ? Self.pairs(request.body) : request.query.map { ($0.name, $0.value) }
        guard pairs.count <= Self.maximumFields else { throw .invalidRequest("There are too many parameters.") }
        for (name, value) in pairs {
            guard let name, let value else { throw .invalidRequest("A parameter is not well encoded.") }
            if values[name] != nil, !Self.repeatable.contains(name) {
                // As an error may show it.
                let letters = name.unicodeScalars.prefix(40).map {
                    (0x21..<0x7F).contains($0.value) ? Character($0) : "?"
                }
                throw .invalidRequest("The parameter \(String(letters)) stands there twice.")
            }
            values[name, default: []].append(value)
        }
    }

    private static func pairs(_ body: [UInt8]) -> [(name: String?, value: String?)] {
        body.split(separator: UInt8(ascii: "&"), maxSplits: maximumFields).map { pair in
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (decode(halves[0]), halves.count > 1 ? decode(halves[1]) : "")
        }
    }

    /// A parameter; nil when it is absent, and when it is empty, which means the same.
    func value(_ name: String) -> String? { values[name]?.first.flatMap { $0.isEmpty ? nil : $0 } }

    /// All values of a parameter that may be repeated.
    func all(_ name: String) -> [String] { (values[name] ?? []).filter { !$0.isEmpty } }

    /// A parameter that has to be there.
    func required(_ name: String) throws(OAuthFailure) -> String {
        guard let value = value(name) else { throw .invalidRequest("The parameter \(name) is missing.") }
        return value
    }

    /// One half of a pair, decoded; nil when it is not well formed.
    static func decode(_ bytes: some Collection<UInt8>) -> String? {
        let (decoded, isWhole) = PercentEncoding.decode(bytes.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 })
        return isWhole ? String(validating: decoded, as: UTF8.self) : nil
    }
}
