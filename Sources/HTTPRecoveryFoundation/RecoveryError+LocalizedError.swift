public import HTTPRecovery

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What programs show that know errors by `localizedDescription` alone. The texts are English.
extension RecoveryError: LocalizedError {
    /// What happened, in a sentence for a person (`userMessage`).
    public var errorDescription: String? { userMessage }

    /// What happened, in a line for logs, without anything that could be a secret.
    public var failureReason: String? { description }

    /// When to try again, if that is known; nil otherwise.
    public var recoverySuggestion: String? {
        guard let retryAfter else { return nil }
        return "Try again in \(Self.words(retryAfter))."
    }

    /// When it will be worth trying again; nil if that is not known.
    public var retryDate: Date? { retryAt.map(Date.init) }

    /// A time that a person waits, rounded up: nobody comes too early.
    private static func words(_ duration: Duration) -> String {
        let seconds = max(1, duration.inSeconds.rounded(.up))
        switch seconds {
        case ..<91: return count(seconds, "second")
        case ..<5401: return count((seconds / 60).rounded(.up), "minute")
        case ..<129_601: return count((seconds / 3600).rounded(.up), "hour")
        default: return count((seconds / 86_400).rounded(.up), "day")
        }
    }

    private static func count(_ number: Double, _ unit: String) -> String {
        // What is beyond counting is no promise.
        let number = Int(exactly: min(number, 1e9)) ?? 1
        return "\(number) \(unit)\(number == 1 ? "" : "s")"
    }
}

extension TransportError: LocalizedError {
    /// What went wrong, in a line for logs.
    public var errorDescription: String? { description }
}

extension SharedState.StoreError: LocalizedError {
    /// What went wrong and what to do.
    public var errorDescription: String? { description }
}

extension MessageBody.ReadError: LocalizedError {
    /// Why the body could not be read.
    public var errorDescription: String? { description }
}

extension Origin.InvalidURL: LocalizedError {
    /// What is wrong; the URL itself is left out, since it may hold secrets.
    public var errorDescription: String? { description }
}
