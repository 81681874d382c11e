import AuthRecovery

/// A sealing for tests, without a cipher: it writes key, place and a serial number in front of the reversed bytes.
package struct MarkingSealing: CredentialSealing {
    package var key: String
    /// What it throws instead of sealing and opening.
    package var failure: (any Error & Sendable)?

    package init(key: String = "k1", failure: (any Error & Sendable)? = nil) {
        self.key = key
        self.failure = failure
    }

    package func seal(_ plaintext: [UInt8], at place: String) throws -> [UInt8] {
        if let failure { throw failure }
        return Array("\(key)|\(place)|\(UInt64.random(in: 0...(.max)))|".utf8) + plaintext.reversed()
    }

    package func open(_ sealed: [UInt8], at place: String) throws -> [UInt8] {
        if let failure { throw failure }
        let parts = sealed.split(separator: UInt8(ascii: "|"), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4 else { throw Credentials.SealingError(.malformed, "cut") }
        guard parts[0].elementsEqual(key.utf8) else { throw Credentials.SealingError(.unknownKey, "another key") }
        guard parts[1].elementsEqual(place.utf8) else { throw Credentials.SealingError(.notAuthentic, "another place") }
        return parts[3].reversed()
    }
}

/// An error of a key service that says too much.
package struct TalkativeError: Error, CustomStringConvertible {
    package init() {}

    package var description: String { "could not seal s3cret" }
}
