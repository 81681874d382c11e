public import HTTPRecovery

extension Outcome {
    /// The category that the vendor's SDKs give such an outcome, by what this library knows of it.
    ///
    /// What the vendor's own table says, ``FacebookErrorConfiguration/category(code:subcode:isTransient:isClientToken:)``
    /// tells; it differs if this library knows better, as for a person who has to settle something at Facebook.
    public var facebookCategory: FacebookErrorCategory {
        switch kind {
        case .rateLimited, .quotaExhausted, .unavailable, .transport, .timedOut: .transient
        case .credentialRejected, .reauthenticationRequired:
            remedies.contains(.reauthenticate) && credential != .client ? .recoverable : .other
        default: .other
        }
    }
}
