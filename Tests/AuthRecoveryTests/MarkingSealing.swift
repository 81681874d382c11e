import AuthRecovery

/// A sealing for tests, without a cipher: it writes key, place and a serial number in front of the reversed bytes.
struct MarkingSealing: CredentialSealing {
    var key = "k1"
    /// What it throws instead of sealing and opening.
    var failure: (any Error & Sendable)?

    func seal(_ plaintext: [UInt8], at place: String) throws -> [UInt8] {
        if let failure { throw failure }
        return Array("\(key)|\(place)|\(UInt64.random(in: 0...(.max)))|".utf8) + plaintext.reversed()
    }

    func open(_ sealed: [UInt8], at place: String) throws -> [UInt8] {
        if let failure { throw failure }
        let parts = sealed.split(separator: UInt8(ascii: "|"), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4 else { throw SealingError(.malformed, "cut") }
        guard parts[0].elementsEqual(key.utf8) else { throw SealingError(.unknownKey, "another key") }
        guard parts[1].elementsEqual(place.utf8) else { throw SealingError(.notAuthentic, "another place") }
        return parts[3].reversed()
    }
}

/// An error of a key service that says too much.
struct TalkativeError: Error, CustomStringConvertible {
    var description: String { "could not seal s3cret" }
}
