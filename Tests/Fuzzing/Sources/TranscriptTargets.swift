import HTTPTypes

@testable import HTTPRecovery
@testable import Transcripts

/// What somebody has pasted for `explain`.
enum TranscriptTargets {
    static func readTranscript(_ bytes: [UInt8]) {
        let now = Timestamp(sinceEpoch: .seconds(1_893_456_000))
        // A line for `classify` is read elsewhere.
        var (reader, other) = (TranscriptReader(), TranscriptReader())
        do {
            try reader.read(bytes)
            try other.read(bytes)
        } catch {
            require(!error.description.isEmpty, "what cannot be read says why")
            return
        }
        require(reader.body == other.body && reader.fields == other.fields, "a text is read alike each time")
        require(reader.status.map { (100...999).contains($0) } ?? true, "a status has three digits")
        require(reader.body.count <= bytes.count, "a body is a part of the text")
        for field in reader.fields {
            require(!field.value.utf8.contains { $0 == 0x0A || $0 == 0x00 }, "no field holds an end of line")
        }
        // The path and the method count only where they can be sent.
        require(reader.path?.hasPrefix("/") ?? true, "a path begins with a slash")
        guard let pasted = try? PastedExchange(bytes, hints: PastedExchange.Hints(), now: now) else { return }
        checkOutcome(HTTPClassifier().classify(pasted.exchange))
    }
}
