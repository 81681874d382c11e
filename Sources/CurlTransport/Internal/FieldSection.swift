import HTTPRecovery
import HTTPTypes

/// The fields of a header or trailer section, read line by line.
struct FieldSection {
    /// The most fields that are taken: the type traps where it is full.
    private static let most = 60_000

    private var fields = HTTPFields()
    /// The last field, if further lines continue it.
    private var folded: FoldedField?

    var isEmpty: Bool { fields.isEmpty && folded == nil }

    /// Takes a line that is not empty; false if there is no room for what it says.
    mutating func take(_ line: UnsafeBufferPointer<UInt8>, _ known: inout KnownLines) -> Bool {
        guard let byte = unsafe line.first else { return true }
        if byte.isOWS {
            if folded == nil { folded = fields.popLast().map { FoldedField($0) } }
            unsafe folded?.continues(with: line.trimmingLine.trimmingOWS)
            return true
        }
        if folded != nil { unfold() }
        if fields.count >= Self.most { return false }
        if fields.isEmpty { fields.reserveCapacity(16) }
        if let field = unsafe known.field(line) { fields.append(field) } else { folded = .ignored }
        return true
    }

    /// Hands the fields over, and has none.
    mutating func finish() -> HTTPFields {
        if folded != nil { unfold() }
        var taken = HTTPFields()
        swap(&taken, &fields)
        return taken
    }

    private mutating func unfold() {
        if let whole = folded?.whole { fields.append(whole) }
        folded = nil
    }
}

/// A field that further lines continue: obsolete line folding (RFC 9112, section 5.2).
///
/// The lines are collected and made a field once, however many there are.
private struct FoldedField {
    private let name: HTTPField.Name?
    private var bytes: [UInt8] = []

    init(_ field: HTTPField) {
        name = field.name
        // The bytes are copied within the closure.
        bytes = unsafe field.withUnsafeBytesOfValue { unsafe Array($0) }
    }

    private init() {
        name = nil
    }

    /// What continues a line that is no field.
    static let ignored = FoldedField()

    mutating func continues(with line: Slice<UnsafeBufferPointer<UInt8>>) {
        guard name != nil else { return }
        bytes.append(0x20)
        unsafe bytes.append(contentsOf: line)
    }

    var whole: HTTPField? {
        name.map { HTTPField(name: $0, lenientValue: bytes) }
    }
}
