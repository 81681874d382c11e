import HTTPRecovery

extension Outcome.Kind {
    /// What the word means, for whoever debugs it.
    var explanation: String {
        switch self {
        case .ok: "A success."
        case .continue: "No failure: the flow goes on with another step."
        case .rateLimited: "A limit over seconds or minutes was reached. Nothing of its scope should leave earlier."
        case .quotaExhausted: "A limit over an hour or more is used up. Waiting for minutes is useless."
        case .unavailable: "The server side fails for a time. The request itself may be right."
        case .transport: "No answer came."
        case .timedOut: "No answer came in time."
        case .credentialRejected: "What was presented is definitely not accepted."
        case .reauthenticationRequired: "Nothing that is held can help any more: somebody has to sign in."
        case .invalidCredentials: "The password or the identifier is wrong. Tokens that are held stay good."
        case .accountLocked: "The account is locked after too many failures. Further attempts may make it longer."
        case .accountBlocked: "The account is disabled, banned, expired or not confirmed."
        case .passwordCompromised: "The password is known from a breach: another factor has to be used first."
        case .passwordExpired: "The password has to be changed before the sign-in goes on."
        case .passwordRejected: "The new password is against the policy."
        case .challengeIncorrect: "The code is wrong, or was used before. The same challenge can be answered again."
        case .challengeExpired: "The code, the link or its attempts are used up: a new one is needed."
        case .challengePending: "Not yet: ask again after the interval. The flow works like that."
        case .challengeRequired: "A captcha, an attestation or another check has to be passed first."
        case .declined: "A person or an administrator said no."
        case .factorUnavailable: "This factor cannot be used now."
        case .flowExpired: "The proof of the running flow is dead. It has to be begun again."
        case .stateConflict: "The flow is in another state than was assumed: read it again and follow it."
        case .stepUpRequired: "Stronger or fresher authentication is wanted."
        case .nonceRequired: "The proof has to be made again with the server's nonce."
        case .userActionRequired: "The person has to do something at the provider. The token stays."
        case .permissionDenied: "A scope, role or capability is missing. Signing in again changes nothing by itself."
        case .policyBlocked: "The provider blocks this for its behaviour: hours, no minutes."
        case .invalidRequest: "A parameter of the request is wrong."
        case .misconfigured: "The client, app, realm, key or route is set up wrongly."
        case .conflict: "There is one already, or it was changed at the same time."
        case .alreadySignedIn: "There is a session already, which can be used."
        case .notFound: "What was asked for does not exist."
        case .unreadable: "This is not the API's answer; perhaps a proxy's or a page. Tokens stay."
        case .unknown: "An error whose meaning is not known: shown, never repeated; tokens stay."
        @unknown default: rawValue
        }
    }
}

extension Outcome.Scope {
    var explanation: String {
        switch self {
        case .endpoint: "this endpoint, or those that share its limit"
        case .origin: "this server, for the credential that was presented"
        case .account: "this account"
        case .credential: "this credential, wherever it is presented"
        case .app: "the whole app"
        @unknown default: rawValue
        }
    }
}

extension Outcome.Processed {
    var explanation: String {
        switch self {
        case .no: "no: sending it again does nothing twice"
        case .yes: "yes"
        case .unknown: "unknown: only what is idempotent may be sent again"
        }
    }
}

extension Outcome.TokenAction {
    var explanation: String {
        switch self {
        case .keep: "keep it"
        case .clear: "remove it, if it is still the current one"
        case .rotate: "the answer holds its replacement: store that before anyone uses it"
        }
    }
}

extension Outcome.Remedy {
    /// What is to be done.
    var explanation: String {
        switch self {
        case .retry: "send it again after a backoff, if that is safe"
        case .wait: "wait the stated time, then send it again"
        case .poll: "ask again after the interval"
        case .refreshCredential: "renew the credential and replay once"
        case .reauthenticate: "sign in again"
        case .switchFactor: "use another factor"
        case .newChallenge: "have a new code sent or a new challenge made"
        case .askUser: "ask the person again, at the same step"
        case .changePassword: "set a new password"
        case .unlock: "let the person unlock the account"
        case .resync: "read the server's state again and follow it"
        case .restartFlow: "begin the flow again"
        case .useExistingSession: "use the session that exists"
        case .stepUp: "authenticate more strongly, then send it again"
        case .newNonce: "make the proof again with the server's nonce"
        case .seedToken: "replay once with the previous token as seed"
        case .solveChallenge: "solve the captcha or attestation"
        case .visitProvider: "send the person to the provider's website"
        case .fixRequest: "correct the request or the configuration"
        case .contactAdmin: "ask an administrator"
        @unknown default: rawValue
        }
    }
}
