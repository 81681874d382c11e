import HTTPRecovery

/// A code, or a link, that the sandbox would have sent to somebody.
public struct SandboxMessage: Sendable, Equatable {
    /// The e-mail address or the phone number.
    public let to: String
    /// `email` or `phone`.
    public let channel: String
    /// What it is for, such as `email_code` or `reset_password_email_code`.
    public let strategy: String
    /// The code; the whole link, where one was sent or a journey was suspended.
    public let code: String
    /// When, in milliseconds since 1970 on the sandbox's clock.
    public let sentAt: Int64
    /// The sign-in, sign-up or verification that asked for it.
    public let signIn: String
}

extension SandboxMessage: Encodable {
    enum CodingKeys: String, CodingKey {
        case to, channel, strategy, code, sentAt
        case signIn = "sign_in_id"
    }
}

/// The messages that were sent, newest last.
struct Outbox: Sendable {
    private static let capacity = 1000

    private(set) var messages: [SandboxMessage] = []
    /// How many there were in all.
    private(set) var total = 0

    mutating func send(_ message: SandboxMessage) {
        if messages.count >= Self.capacity { messages.removeFirst(Self.capacity / 2) }
        messages.append(message)
        total += 1
    }

    /// The messages to one address, or all.
    func messages(to address: String?) -> [SandboxMessage] {
        guard let address else { return messages }
        return messages.filter { $0.to.lowercased() == address.lowercased() }
    }
}
