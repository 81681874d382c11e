public import HTTPRecovery

extension Outcome {
    /// The category that the vendor's SDKs give such an outcome, by what this library knows of it.
    ///
    /// What the vendor's own table says, ``FacebookErrorConfiguration/category(code:subcode:isTransient:isClientToken:)``
    /// tells; it differs if this library knows better, as for a person who has to settle something at Facebook.
    public var facebookCategory: FacebookErrorCategory {
        switch kind {
        // What the vendor's table calls neither is not to be repeated.
        case .unavailable where remedies.isEmpty: .other
        case .rateLimited, .quotaExhausted, .unavailable, .transport, .timedOut: .transient
        case .credentialRejected, .reauthenticationRequired:
            remedies.contains(.reauthenticate) && credential != .client ? .recoverable : .other
        // What the vendor's table alone says.
        case .unknown where remedies.first == .reauthenticate: .recoverable
        case .permissionDenied where remedies.first == .reauthenticate: .recoverable
        default: .other
        }
    }
}

extension RecoveryError {
    /// The error with a sentence for the person that says more than its kind does, unless Facebook has sent one itself.
    var worded: RecoveryError {
        let isAboutToken = reason != .identityChanged
        let sentence = (isAboutToken ? outcome.sentenceOfRefusal : nil) ?? FacebookLoginError(self)?.userMessage
        guard let text = sentence, outcome.userMessage == nil else { return self }
        var error = self
        error.outcome.userMessage = text
        return error
    }
}

extension Outcome {
    /// What a finer code of a refused token tells the person.
    fileprivate var sentenceOfRefusal: String? {
        guard code == "190" || code == "102" else { return nil }
        return switch subcode {
        case "458": "The app was removed at Facebook. Please sign in again to go on with it."
        case "463": "The sign-in has run out. Please sign in again."
        case "467": "You have logged out at Facebook. Please sign in again."
        case "492": "You have no role on this page any more. Please ask somebody who manages it."
        case "493": "The app may not read your data at Facebook any more. Please sign in again to allow it."
        default: nil
        }
    }
}
