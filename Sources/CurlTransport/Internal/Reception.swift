/// What has come of a response.
struct Reception {
    /// The header section.
    var head = HeadReception()
    /// Body bytes that came in this turn of the loop.
    var incoming: [UInt8] = []
    /// How many bytes of the body have come, decompressed.
    var bodyByteCount = 0
    /// How many more may come before the loop has to look at how far behind the consumer is.
    var room = 0

    /// Takes a further piece of a body if nothing has to be looked at; false if the piece is not taken.
    mutating func takeMore(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // The first piece of a turn is news, and there has to be room for what follows it.
        if bytes.count > room || incoming.isEmpty { return false }
        unsafe append(bytes)
        return true
    }

    mutating func takeIncoming() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &incoming)
        return taken
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        room = max(0, room - bytes.count)
        bodyByteCount += bytes.count
        unsafe incoming.append(contentsOf: bytes)
    }
}

/// What libcurl's callbacks for header lines and body bytes are given: several lines a response and 64 pieces a MiB.
///
/// They find in it what most of them need, and neither count references nor have their exclusive access checked for that.
/// It is the handle's, who makes and frees it, and confined to the loop's thread.
@safe
struct ReceivingContext {
    /// It outlives what it has made.
    let easy: Unmanaged<EasyHandle>
    let maxHeaderBytes: Int
    /// The loop's.
    let knownLines: UnsafeMutablePointer<KnownLines>
    /// Of the transfer that the handle carries.
    var reception = Reception()
}
