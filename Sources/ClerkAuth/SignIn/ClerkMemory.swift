package import AuthRecovery
package import HTTPRecovery

extension ClerkSession: RememberedFields {
    package init() {
        self.init(id: "", [:])
    }

    package static var fields: [RememberedField<ClerkSession>] {
        [
            .init("id", \.id), .init("status", \.status), .init("expire_at", \.expireAt),
            .init("abandon_at", \.abandonAt), .init("last_active_at", \.lastActiveAt),
            .init("organization", \.lastActiveOrganizationID), .init("first_age", \.firstFactorAge),
            .init("second_age", \.secondFactorAge), .init("token", \.lastActiveToken), .init("user", \.userID),
            .init("tasks", \.tasks), .init("identifiers", \.identifiers),
            .init("creates_organizations", \.mayCreateOrganization),
        ]
    }
}

extension ClerkSignUp: RememberedFields {
    package init() {
        self.init(id: "", [:])
    }

    package static var fields: [RememberedField<ClerkSignUp>] {
        [
            .init("id", \.id), .init("status", \.status), .init("missing", \.missingFields),
            .init("unverified", \.unverifiedFields), .init("verifications", \.verifications),
            .init("email_address", \.emailAddress), .init("phone_number", \.phoneNumber),
            .init("session", \.createdSessionID), .init("user", \.createdUserID), .init("check", \.check),
        ]
    }
}

extension ClerkSignIn: RememberedFields {
    package init() {
        self.init(id: "", [:])
    }

    package static var fields: [RememberedField<ClerkSignIn>] {
        [
            .init("id", \.id), .init("status", \.status), .init("identifier", \.identifier),
            .init("first_factors", \.supportedFirstFactors), .init("second_factors", \.supportedSecondFactors),
            .init("first_verification", \.firstFactorVerification),
            .init("second_verification", \.secondFactorVerification), .init("session", \.createdSessionID),
            .init("check", \.check),
        ]
    }
}

extension ClerkFactor: RememberedFields {
    package init() {
        self.init(strategy: "", [:])
    }

    package static var fields: [RememberedField<ClerkFactor>] {
        [
            .init("strategy", \.strategy), .init("safe_identifier", \.safeIdentifier),
            .init("email", \.emailAddressID), .init("phone", \.phoneNumberID),
            .init("connection", \.enterpriseConnectionID), .init("connection_name", \.enterpriseConnectionName),
            .init("default", \.isDefault),
        ]
    }
}

extension ClerkVerification: RememberedFields {
    package init() { status = "" }

    package static var fields: [RememberedField<ClerkVerification>] {
        [
            .init("status", \.status), .init("strategy", \.strategy), .init("attempts", \.attempts),
            .init("strategies", \.supportedStrategies), .init("expire_at", \.expireAt), .init("nonce", \.nonce),
            .init("redirect", \.redirectURL),
        ]
    }
}

extension ClerkSignUpRequest: RememberedFields {
    package init() { self.init(emailAddress: nil) }

    package static var fields: [RememberedField<ClerkSignUpRequest>] {
        [
            .init("email_address", \.emailAddress), .init("phone_number", \.phoneNumber),
            .init("username", \.username), .init("password", \.password), .init("first_name", \.firstName),
            .init("last_name", \.lastName), .init("ticket", \.ticket), .init("legal", \.legalAccepted),
            .init("metadata", \.unsafeMetadata), .init("transfers", \.transfersSignIn),
            .init("redirect", \.redirect),
        ]
    }
}

extension ClerkRedirect: RememberedFields {
    package init() { self.init(strategy: "") }

    package static var fields: [RememberedField<ClerkRedirect>] {
        [
            .init("strategy", \.strategy), .init("identifier", \.identifier), .init("signs_up", \.signsUp),
            .init("legal", \.legalAccepted), .init("prompt", \.prompt), .init("hint", \.loginHint),
        ]
    }
}

extension ClerkSignInMethod: Remembered {
    package var memory: JSONValue {
        switch self {
        // The password is the machine's to remember, and to forget.
        case .identifier(let name, _): ["identifier": .string(name)]
        case .identifierOrNew(let name): ["identifier_or_new": .string(name)]
        case .newPassword(let name, let endsOthers): ["new_password": .string(name), "ends_others": .bool(endsOthers)]
        case .ticket(let ticket): ["ticket": ticket.memory]
        case .link(let link, let address): ["link": link.proof.memory, "address": address.memory]
        case .passkey: ["passkey": true]
        case .transfer: ["transfer": true]
        case .trustedDevice(let id): ["device": .string(id)]
        case .redirect(let redirect): ["redirect": redirect.memory]
        case .token(let token, let strategy): ["token": token.memory, "strategy": .string(strategy)]
        }
    }

    package init?(memory: JSONValue) {
        if let name = memory["identifier"]?.string {
            self = .identifier(name)
        } else if let name = memory["identifier_or_new"]?.string {
            self = .identifierOrNew(name)
        } else if let name = memory["new_password"]?.string, let endsOthers = memory["ends_others"]?.bool {
            self = .newPassword(identifier: name, endsOtherSessions: endsOthers)
        } else if let ticket = memory["ticket"].flatMap({ Secret(memory: $0) }) {
            self = .ticket(ticket)
        } else if let proof = memory["link"].flatMap({ OAuthClient.ProofKey(memory: $0) }),
            let address = memory["address"].flatMap({ Secret(memory: $0) })
        {
            self = .link(ClerkEmailLink(proof: proof), ledTo: address)
        } else if let redirect = memory["redirect"].flatMap({ ClerkRedirect(memory: $0) }) {
            self = .redirect(redirect)
        } else if let token = memory["token"].flatMap({ Secret(memory: $0) }), let name = memory["strategy"]?.string {
            self = .token(token, strategy: name)
        } else if let id = memory["device"]?.string {
            self = .trustedDevice(id: id)
        } else if memory["passkey"] != nil {
            self = .passkey
        } else if memory["transfer"] != nil {
            self = .transfer
        } else {
            return nil
        }
    }
}

extension ClerkSignInStatus: Remembered {}
extension ClerkSignUpStatus: Remembered {}
extension ClerkSessionStatus: Remembered {}
extension ClerkReverification: Remembered {}
