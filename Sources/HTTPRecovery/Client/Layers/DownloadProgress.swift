import HTTPTypes

/// What there is of a download, and how it can go on; a value without I/O.
struct DownloadProgress: Sendable, Hashable {
    /// What a response means for what is there.
    enum Step: Hashable {
        /// Its body goes behind what is there.
        case append
        /// Its body is the whole: what is there is given up.
        case begin
        /// Nothing is missing.
        case complete
        /// It fits to nothing that is there: the download begins anew with another request.
        case mismatch(String)
    }

    /// How many bytes are there.
    private(set) var count: Int64 = 0
    /// What is known not to have changed if it is still the same: a strong entity tag, or a date of change that is as good.
    private(set) var validator: String?
    /// How many bytes there are in all; nil if nobody has said so.
    private(set) var total: Int64?
    /// Whether what is there may be continued although nothing tells whether it has changed: somebody has said so.
    private var isVouchedFor = false

    init() {}

    /// - Parameter count: How many bytes of an earlier download are there.
    init(continuingAt count: Int64) {
        self.count = max(0, count)
        isVouchedFor = count > 0
    }

    /// Whether it can be asked for the rest.
    var isResumable: Bool { count > 0 && (validator != nil || isVouchedFor) }

    /// Asks for the rest, if that can be done (RFC 9110 sections 13.1.5 and 14.2).
    func adjust(_ fields: inout HTTPFields) {
        // A range of a coded body is none of what it holds.
        if !fields.contains(.acceptEncoding) { fields[.acceptEncoding] = "identity" }
        guard isResumable else { return }
        fields[.range] = "bytes=\(count)-"
        if let validator { fields[.ifRange] = validator }
    }

    /// Takes note of the head of a response.
    mutating func note(_ head: HTTPResponse) -> Step {
        let fields = head.headerFields
        switch head.status.code {
        case 206:
            guard let range = ContentRange(fields), range.first == count, isResumable else {
                return mismatch("the part that came is not the one that is missing")
            }
            if let total, let stated = range.total, stated != total { return mismatch("its length has changed") }
            if let validator, let tag = Self.validator(of: head), tag != validator { return mismatch("it has changed") }
            validator = validator ?? Self.validator(of: head)
            total = total ?? range.total
            return .append
        case 416 where isResumable:
            guard let range = ContentRange(fields), range.first == nil, range.total == count else {
                return mismatch("the server does not have so much of it")
            }
            total = count
            return .complete
        case 412 where isResumable: return mismatch("it has changed")
        default:
            self = DownloadProgress()
            let length = fields[.contentLength].flatMap { Int64($0) }.flatMap { $0 < 0 ? nil : $0 }
            if head.status.code == 200 { (validator, total) = (Self.validator(of: head), length) }
            return .begin
        }
    }

    /// Takes note of bytes that were written.
    mutating func add(_ bytes: Int) {
        count = count.addingReportingOverflow(Int64(bytes)).partialValue
    }

    /// Whether bytes are missing at the end, or there are too many.
    var isWhole: Bool { total == nil || total == count }

    private mutating func mismatch(_ why: String) -> Step {
        self = DownloadProgress()
        return .mismatch(why)
    }

    /// What tells that a representation has not changed: a strong entity tag, or its date of change if the answer is at
    /// least a minute younger (RFC 9110 sections 8.8.2.2 and 13.1.5); nil for what does not take ranges.
    private static func validator(of head: HTTPResponse) -> String? {
        let fields = head.headerFields
        if fields[.acceptRanges]?.lowercased() == "none" { return nil }
        if let tag = fields[.eTag] {
            return tag.utf8.first == UInt8(ascii: "\"") && tag.utf8.count >= 2 && tag.hasSuffix("\"") ? tag : nil
        }
        let epoch = Timestamp(secondsSinceEpoch: 0)
        guard let text = fields[.lastModified], let changed = Timestamp(httpDate: text, now: epoch),
            let date = fields[.date].flatMap({ Timestamp(httpDate: $0, now: epoch) }),
            date.elapsed(since: changed) >= .seconds(60)
        else { return nil }
        return text
    }
}

/// The field `Content-Range` (RFC 9110 section 14.4).
struct ContentRange: Hashable {
    /// The first byte; nil if the range could not be satisfied.
    var first: Int64?
    /// The length of the whole; nil if it is not known.
    var total: Int64?

    /// Reads the field; nil if it is absent, or says nothing that can be.
    init?(_ fields: HTTPFields) {
        guard let value = fields[.contentRange], value.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] != "*" {
            guard let total = Self.number(parts[1]) else { return nil }
            self.total = total
        }
        if parts[0] == "*" {
            if total == nil { return nil }
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(Self.number)
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, total.map({ last < $0 }) ?? true
        else { return nil }
        self.first = first
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy(\.isDigit) ? Int64(text) : nil
    }
}
