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
        guard request.method == "POST" else {
            try check(request.query.count)
            for field in request.query { try add(field.name, field.value) }
            return
        }
        guard request.body.count <= Self.maximumLength else {
            throw OAuthFailure("invalid_request", "The body is too long.", status: 413)
        }
        guard request.body.isEmpty || Masking.isForm(request) else {
            throw .invalidRequest("The body has to be application/x-www-form-urlencoded.")
        }
        let pairs = request.body.split(separator: UInt8(ascii: "&"), maxSplits: Self.maximumFields)
        try check(pairs.count)
        for pair in pairs {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(halves[0]), let value = halves.count > 1 ? Self.decode(halves[1]) : "" else {
                throw .invalidRequest("A parameter is not well encoded.")
            }
            try add(name, value)
        }
    }

    private func check(_ count: Int) throws(OAuthFailure) {
        guard count <= Self.maximumFields else { throw .invalidRequest("There are too many parameters.") }
    }

    private mutating func add(_ name: String, _ value: String) throws(OAuthFailure) {
        if values[name] != nil, !Self.repeatable.contains(name) {
            throw .invalidRequest("The parameter \(Self.shown(name)) stands there twice.")
        }
        values[name, default: []].append(value)
    }

    /// A parameter; nil when it is absent, and when it is empty, which means the same.
    func value(_ name: String) -> String? {
        values[name]?.first.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// All values of a parameter that may be repeated.
    func all(_ name: String) -> [String] {
        (values[name] ?? []).filter { !$0.isEmpty }
    }

    /// A parameter that has to be there.
    func required(_ name: String) throws(OAuthFailure) -> String {
        guard let value = value(name) else { throw .invalidRequest("The parameter \(name) is missing.") }
        return value
    }

    /// A name as an error may show it.
    private static func shown(_ name: String) -> String {
        String(name.unicodeScalars.prefix(40).map { (0x21..<0x7F).contains($0.value) ? Character($0) : "?" })
    }

    /// One half of a pair, decoded; nil when it is not well formed.
    static func decode(_ bytes: some Collection<UInt8>) -> String? {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                    return nil
                }
                out.append(high << 4 | low)
            case UInt8(ascii: "+"): out.append(0x20)
            default: out.append(byte)
            }
        }
        return String(validating: out, as: UTF8.self)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
