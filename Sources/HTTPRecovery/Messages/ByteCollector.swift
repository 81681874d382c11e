/// Pieces of a body on their way to become one array.
///
/// They are put together when all have come, so that each byte is copied once, and none of a body that came in one piece.
/// A length that somebody has stated makes no room beforehand.
struct ByteCollector {
    private var pieces: [ArraySlice<UInt8>] = []
    private(set) var count = 0

    mutating func append(_ piece: ArraySlice<UInt8>) {
        if piece.isEmpty { return }
        pieces.append(piece)
        count += piece.count
    }

    /// All of it.
    consuming func joined() -> [UInt8] {
        // A slice of a whole array becomes that array.
        if pieces.count == 1 { return Array(pieces[0]) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for piece in pieces { bytes.append(contentsOf: piece) }
        return bytes
    }
}
