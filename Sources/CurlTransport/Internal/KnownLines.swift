import Glibc
import HTTPTypes

/// Lines of response heads that have come before, with what they were read as: a server says most of them each time.
///
/// To read a line anew costs five times as much as to find it here, most of it in the checks and the storage of the type.
/// What may hold a secret is not kept: fields with other names than the common ones whose values are nobody's
/// (``CommonFieldNames``), and the reasons of failures, which are free text.
struct KnownLines {
    private struct Entry<Value> {
        var line: [UInt8] = []
        var value: Value?
    }

    /// By a part of their bytes; a line that falls on another's place takes it.
    private var fields = [Entry<HTTPField>](repeating: Entry(), count: 64)
    private var heads = [Entry<HTTPResponse>](repeating: Entry(), count: 8)

    /// The lengths that are kept.
    private static let lengths = 8...256

    /// The field that a line with its end stands for; nil if it is none.
    mutating func field(_ line: UnsafeBufferPointer<UInt8>) -> HTTPField? {
        guard Self.lengths.contains(line.count) else { return unsafe ResponseHead.field(line)?.field }
        let place = unsafe Self.hash(line) % fields.count
        if unsafe line.isEqual(to: fields[place].line) { return fields[place].value }
        guard let (field, isRepeated) = unsafe ResponseHead.field(line) else { return nil }
        if isRepeated { fields[place] = unsafe Entry(line: Array(line), value: field) }
        return field
    }

    /// The head, without fields, that begins with the line; nil if it is no status line.
    mutating func head(_ line: UnsafeBufferPointer<UInt8>) -> HTTPResponse? {
        guard Self.lengths.contains(line.count) else { return unsafe ResponseHead.head(line) }
        let place = unsafe Self.hash(line) % heads.count
        if unsafe line.isEqual(to: heads[place].line) { return heads[place].value }
        guard let head = unsafe ResponseHead.head(line) else { return nil }
        if head.status.kind == .successful { heads[place] = unsafe Entry(line: Array(line), value: head) }
        return head
    }

    /// A number that depends on the length and on the bytes at both ends, of which there are eight.
    private static func hash(_ line: UnsafeBufferPointer<UInt8>) -> Int {
        let bytes = UnsafeRawBufferPointer(line)
        let first = unsafe bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        let last = unsafe bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
        let mixed = (first &+ UInt64(bytes.count)) &* 0x9e37_79b9_7f4a_7c15 ^ last &* 0xc2b2_ae3d_27d4_eb4f
        return Int(truncatingIfNeeded: mixed >> 40)
    }
}
