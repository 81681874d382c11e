import HTTPTypes

/// An answer that is kept, and until when it may be given in the server's place; a value without clock or lock.
struct StaleAnswer: Sendable {
    let head: HTTPResponse
    let body: ArraySlice<UInt8>
    /// The request's fields that the answer hangs on (`Vary`), by fingerprints of their values.
    private let varying: [HTTPField.Name: String]
    private let isForbidden: Bool
    /// How old it was when it came, and for how long it is fresh.
    private let age: Duration
    private let freshness: Duration
    private let staleIfError: Duration?
    private let came: Duration

    /// Keeps an answer; nil for one that may not be kept.
    init?(to request: HTTPRequest, _ head: HTTPResponse, body: ArraySlice<UInt8>, at now: Duration) {
        let fields = head.headerFields
        let (own, asked) = (CacheControl(fields), CacheControl(request.headerFields))
        let names = fields.lines("vary").flatMap { Array($0.utf8).split(separator: UInt8(ascii: ",")) }
            .map { String(decoding: $0.trimmingOWS, as: UTF8.self) }
        guard head.status == .ok, !own.forbidsStoring, !asked.forbidsStoring, !names.contains("*") else { return nil }
        self.head = head
        self.body = body
        self.varying = Self.varying(names.compactMap { HTTPField.Name($0) }, in: request)
        isForbidden = own.forbidsStaleness
        age = fields.singleLine("age").flatMap { DelayText.seconds($0, allowsFraction: false) } ?? .zero
        freshness = own.maxAge ?? Self.lifetime(fields)
        staleIfError = own.staleIfError
        came = now
    }

    /// Memory that it takes, more or less.
    var size: Int {
        head.headerFields.reduce(body.count + 64) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }

    /// Whether the answer fits a request by what it hangs on.
    func fits(_ request: HTTPRequest) -> Bool {
        varying == Self.varying(Array(varying.keys), in: request)
    }

    /// Whether both are answers to the same request, by what they hang on.
    func replaces(_ other: StaleAnswer) -> Bool { varying == other.varying }

    /// The answer with its age, if it may be given in place of an error.
    ///
    /// - Parameters:
    ///   - request: What it would answer; it may say for how long it accepts that, if the server does not.
    ///   - standard: For how long it may be given if nobody says so; nil is not.
    func answer(to request: HTTPRequest, at now: Duration, otherwise standard: Duration?) -> HTTPResponse? {
        let asked = CacheControl(request.headerFields)
        guard !isForbidden, !asked.forbidsStaleness,
            let grace = staleIfError ?? asked.staleIfError ?? standard, grace > .zero
        else { return nil }
        let age = age.saturatingAdding(now - came)
        guard age <= freshness.saturatingAdding(grace) else { return nil }
        var head = head
        head.headerFields[.age] = "\(age.components.seconds)"
        return head
    }

    /// `Expires` less `Date`, if nothing else says how long an answer is fresh.
    private static func lifetime(_ fields: HTTPFields) -> Duration {
        let epoch = Timestamp(secondsSinceEpoch: 0)
        guard let expires = fields.singleLine("expires").flatMap({ Timestamp(httpDate: $0, now: epoch) }),
            let date = fields.singleLine("date").flatMap({ Timestamp(httpDate: $0, now: epoch) })
        else { return .zero }
        return max(.zero, expires.elapsed(since: date))
    }

    private static func varying(_ names: [HTTPField.Name], in request: HTTPRequest) -> [HTTPField.Name: String] {
        var values: [HTTPField.Name: String] = [:]
        for name in names { values[name] = request.headerFields[name].map { Fingerprint.text(of: $0) } ?? "" }
        return values
    }
}

/// The answers that are kept: no more than so many, and no more than so many bytes; who was used least lately goes first.
struct StaleTable: Sendable {
    private struct Entry {
        var key: String
        var answer: StaleAnswer
        var use: UInt64
    }

    private let mostEntries: Int
    private let mostBytes: Int
    private var entries: [Entry] = []
    private var uses: UInt64 = 0
    private(set) var bytes = 0

    init(mostEntries: Int, mostBytes: Int) {
        self.mostEntries = max(0, mostEntries)
        self.mostBytes = max(0, mostBytes)
    }

    var count: Int { entries.count }

    /// Keeps an answer, unless it is larger than a tenth of all that is kept.
    mutating func keep(_ answer: StaleAnswer, under key: String) {
        remove { $0.key == key && answer.replaces($0.answer) }
        guard answer.size <= mostBytes / 10, mostEntries > 0 else { return }
        uses += 1
        entries.append(Entry(key: key, answer: answer, use: uses))
        bytes += answer.size
        while entries.count > mostEntries || bytes > mostBytes {
            guard let oldest = entries.map(\.use).min() else { return }
            remove { $0.use == oldest }
        }
    }

    /// The answer to a request that is kept under a key.
    mutating func answer(to request: HTTPRequest, under key: String) -> StaleAnswer? {
        guard let index = entries.lastIndex(where: { $0.key == key && $0.answer.fits(request) }) else { return nil }
        uses += 1
        entries[index].use = uses
        return entries[index].answer
    }

    /// Drops what is kept under keys that begin with the text.
    mutating func drop(prefix: String) {
        remove { $0.key.utf8.starts(with: prefix.utf8) }
    }

    private mutating func remove(_ isDropped: (Entry) -> Bool) {
        entries.removeAll { entry in
            guard isDropped(entry) else { return false }
            bytes -= entry.answer.size
            return true
        }
    }
}
