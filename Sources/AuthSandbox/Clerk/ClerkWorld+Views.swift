import HTTPRecovery

// The resources as they go over the wire.
extension ClerkWorld {
    func clientView(_ id: String) -> JSONValue {
        guard let client = clients[id] else { return .null }
        return [
            "object": "client", "id": .string(id),
            "sessions": .array(client.sessions.map(sessionView)),
            "sign_in": client.signIn.map(signInView) ?? .null,
            "sign_up": client.signUp.map { signUpView($0) } ?? .null,
            "last_active_session_id": .optional(client.lastActiveSession),
            "last_authentication_strategy": .optional(client.lastStrategy),
            "cookie_expires_at": .null, "captcha_bypass": .bool(client.isHuman),
            "created_at": .int(client.createdAt), "updated_at": .int(client.updatedAt),
        ]
    }

    func sessionView(_ id: String) -> JSONValue {
        guard let session = sessions[id] else { return .null }
        let user = accounts[session.account]?.user
        return [
            "object": "session", "id": .string(id), "status": .string(session.status),
            "expire_at": .int(session.expireAt),
            "abandon_at": .int(session.createdAt + 2_592_000_000),
            "last_active_at": .int(session.lastActiveAt),
            "last_active_organization_id": .optional(session.organization), "actor": .null,
            "user": userView(session.account),
            "public_user_data": Self.nameView(user)
                .adding("identifier", .string(user?.identifier ?? ""))
                .adding("user_id", .string(session.account))
                .adding("username", .optional(user?.username)),
            "factor_verification_age": session.factorAges(at: session.lastActiveAt),
            "last_active_token": session.isLive ? ["object": "token", "jwt": .string(session.lastToken)] : .null,
            "tasks": .array(session.tasks.map { ["key": .string($0)] }),
            "created_at": .int(session.createdAt), "updated_at": .int(session.updatedAt),
        ]
    }

    /// What was done last in a session, and from where.
    func activityView(_ id: String) -> JSONValue {
        [
            "object": "session_activity", "id": .string("sess_activity_" + id.dropFirst(5)), "device_type": "Linux",
            "is_mobile": false, "browser_name": .null, "browser_version": .null, "ip_address": "127.0.0.1",
            "city": .null, "country": .null,
        ]
    }

    private static func nameView(_ user: SandboxUser?) -> JSONValue {
        [
            "first_name": .optional(user?.firstName), "last_name": .optional(user?.lastName), "image_url": "",
            "has_image": false,
        ]
    }

    func signInView(_ id: String) -> JSONValue {
        guard let signIn = signIns[id] else { return .null }
        let hasFirst = signIn.identifier != nil && signIn.status != "complete"
        let hasSecond = ["needs_second_factor", "needs_client_trust"].contains(signIn.status)
        return .present([
            "object": "sign_in_attempt", "id": .string(id), "status": .string(signIn.status),
            "supported_identifiers": ["email_address", "phone_number", "username"],
            "identifier": .optional(signIn.identifier),
            "supported_first_factors": hasFirst ? factorsView(signIn, .first) : .null,
            "supported_second_factors": hasSecond ? factorsView(signIn, .second) : .null,
            "first_factor_verification": proofView(signIn.proofs[.first]),
            "second_factor_verification": proofView(signIn.proofs[.second]),
            "user_data": account(of: signIn).map { Self.nameView($0.user) } ?? .null,
            "created_session_id": .optional(signIn.createdSession),
            "abandon_at": .int(signIn.abandonAt),
            "client_trust_state": signIn.clientTrustState.map(JSONValue.string),
            "protect_check": signIn.check?.view,
        ])
    }

    func verificationView(of id: String) -> JSONValue {
        guard let verification = signIns[id], let purpose = verification.reverification else { return .null }
        return [
            "object": "session_verification", "status": .string(verification.status), "level": .string(purpose.level),
            "session": sessionView(purpose.session),
            "supported_first_factors": verification.status == "complete"
                ? .null : factorsView(verification, .first) { !$0.hasPrefix("reset_password") && $0 != "email_link" },
            "supported_second_factors": verification.status == "needs_second_factor"
                ? factorsView(verification, .second) : .null,
            "first_factor_verification": proofView(verification.proofs[.first]),
            "second_factor_verification": proofView(verification.proofs[.second]),
        ]
    }

    func signUpView(_ id: String, _ settings: SandboxSettings = SandboxSettings()) -> JSONValue {
        guard let signUp = signUps[id] else { return .null }
        func text(_ name: String) -> JSONValue { .optional(signUp.fields[name]) }
        return .present([
            "object": "sign_up_attempt", "id": .string(id),
            "status": signUp.isComplete ? "complete" : "missing_requirements",
            "required_fields": .texts(["email_address"] + settings.requiredFields),
            "optional_fields": ["phone_number", "username", "first_name", "last_name"],
            "missing_fields": .texts(signUp.isComplete ? [] : signUp.missing(settings)),
            "unverified_fields": .texts(signUp.unverified),
            "verifications": [
                "email_address": proofView(signUp.proofs["email_address"]),
                "phone_number": proofView(signUp.proofs["phone_number"]),
                "external_account": proofView(signUp.external),
            ],
            "email_address": text("email_address"), "phone_number": text("phone_number"), "username": text("username"),
            "first_name": text("first_name"), "last_name": text("last_name"),
            "has_password": .bool(signUp.fields["password"] != nil),
            "created_session_id": .optional(signUp.createdSession),
            "created_user_id": .optional(signUp.createdUser),
            "abandon_at": .int(signUp.abandonAt),
            "protect_check": signUp.check?.view,
        ])
    }

    private func proofView(_ proof: ClerkProof?) -> JSONValue {
        guard let proof else { return .null }
        let own = ["password", "totp", "backup_code", "ticket", "email_link", "passkey", "trusted_device"]
        let isElsewhere = Self.isVisit(proof.strategy) || Self.isToken(proof.strategy)
        let kind = isElsewhere ? "oauth" : own.contains(proof.strategy) ? proof.strategy : "otp"
        return .present([
            "object": .string("verification_" + kind),
            "status": .string(proof.status), "strategy": .string(proof.strategy), "attempts": .int(proof.attempts),
            "expire_at": .optional(proof.expireAt), "nonce": .optional(proof.nonce),
            "external_verification_redirect_url": .optional(proof.page), "error": proof.refusal?.items.first ?? .null,
            "trusted_device_challenge": proof.deviceChallenge.map { Self.view($0, device: $0.key) },
        ])
    }

    /// The strategies of a step, with the addresses that their codes go to.
    private func factorsView(
        _ signIn: ClerkSignIn,
        _ step: ClerkStep,
        where isShown: (String) -> Bool = { _ in true }
    ) -> JSONValue {
        let account = account(of: signIn)
        var connections = 0
        return .array(
            offered(signIn, step).filter(isShown).map { strategy in
                let isConnection = strategy == "enterprise_sso"
                if isConnection { connections += 1 }
                let contact = account?.contacts(for: strategy).first
                let address = contact?.address ?? (signIn.signsUp ? signIn.identifier : nil)
                let key = strategy.hasSuffix("phone_code") ? "phone_number_id" : "email_address_id"
                return .present([
                    "strategy": .string(strategy),
                    "safe_identifier": address.map { .string(Self.masked($0)) },
                    key: contact.map { .string($0.id) },
                    "primary": contact.map { _ in true },
                    "enterprise_connection_id": isConnection ? .string(Self.connection(connections)) : nil,
                    "enterprise_connection_name": isConnection ? .string("Connection \(connections)") : nil,
                ])
            }
        )
    }

    /// `a***@example.com`, `+493*****56`.
    private static func masked(_ address: String) -> String {
        if let at = address.lastIndex(of: "@") { return address.prefix(1) + "***" + address[at...] }
        guard address.count > 6 else { return "***" }
        return address.prefix(4) + String(repeating: "*", count: address.count - 6) + address.suffix(2)
    }

    func userView(_ id: String) -> JSONValue {
        guard let account = accounts[id] else { return .null }
        let (user, createdAt) = (account.user, JSONValue.int(account.createdAt))
        let passkeys = account.passkeys.keys.sorted().map { passkey -> JSONValue in
            [
                "object": "passkey", "id": .string(passkey), "name": "Passkey",
                "verification": ["status": "verified", "strategy": "passkey"], "last_used_at": .null,
                "created_at": createdAt, "updated_at": createdAt,
            ]
        }
        return [
            "object": "user", "id": .string(id), "username": .optional(user.username),
            "first_name": .optional(user.firstName), "last_name": .optional(user.lastName), "image_url": "",
            "has_image": false,
            "primary_email_address_id": .optional(account.emails.first?.id),
            "primary_phone_number_id": .optional(account.phones.first?.id),
            "primary_web3_wallet_id": .null,
            "password_enabled": .bool(user.password != nil),
            "two_factor_enabled": .bool(!account.secondFactors.isEmpty),
            "totp_enabled": .bool(user.totpSecret != nil),
            "backup_code_enabled": .bool(!account.backupCodes.isEmpty),
            "email_addresses": .array(ClerkContactKind.emailAddress.views(of: account)),
            "phone_numbers": .array(ClerkContactKind.phoneNumber.views(of: account)),
            "web3_wallets": [], "passkeys": .array(passkeys), "external_accounts": [], "saml_accounts": [],
            "enterprise_accounts": [], "public_metadata": [:], "unsafe_metadata": [:], "external_id": .null,
            "last_sign_in_at": .optional(account.lastSignInAt),
            "banned": .bool(user.state == "banned"), "locked": .bool(account.lock != .open),
            "lockout_expires_in_seconds": .null, "verification_attempts_remaining": .null,
            "delete_self_enabled": true, "create_organization_enabled": true,
            "last_active_at": .optional(account.lastSignInAt), "created_at": createdAt, "updated_at": createdAt,
        ]
    }

    func environmentView(_ settings: SandboxSettings) -> JSONValue {
        let (policy, lockout) = (settings.passwordPolicy, settings.lockout)
        let wantsCaptcha = settings.captcha != "off"
        return [
            "auth_config": [
                "object": "auth_config", "id": .string("aconf_" + instance),
                "first_factors": .texts(SandboxUser.knownFirstFactors),
                "second_factors": .texts(SandboxUser.knownSecondFactors),
                "identification_requirements": [], "single_session_mode": .bool(settings.isSingleSession),
                "native_settings": ["api_enabled": .bool(settings.isNativeAPIEnabled)],
            ],
            "display_config": [
                "object": "display_config", "id": .string("display_config_" + instance),
                "instance_environment_type": "development", "application_name": "auth-sandbox",
                "preferred_sign_in_strategy": "password", "branded": false, "show_devmode_warning": false,
                "home_url": "", "sign_in_url": "", "sign_up_url": "", "user_profile_url": "",
                "captcha_provider": "turnstile", "captcha_widget_type": wantsCaptcha ? "smart" : .null,
                "captcha_public_key": wantsCaptcha ? "sandbox-key" : .null,
                "captcha_public_key_invisible": wantsCaptcha ? "sandbox-invisible-key" : .null,
                "captcha_oauth_bypass": [],
            ],
            "user_settings": [
                "attributes": [
                    "email_address": ["enabled": true, "used_for_first_factor": true, "first_factors": ["email_code"]],
                    "password": ["enabled": true],
                    "phone_number": Self.attribute("phone_number", ["phone_code"], settings, isKnown: true),
                    "authenticator_app": Self.attribute("authenticator_app", ["totp"], settings),
                    "backup_code": Self.attribute("backup_code", ["backup_code"], settings),
                ],
                "password_settings": [
                    "min_length": .int(policy.minimumLength), "max_length": 72,
                    "require_numbers": .bool(policy.requiresNumber),
                    "require_uppercase": .bool(policy.requiresUppercase),
                    "require_special_char": .bool(policy.requiresSpecial), "enforce_hibp_on_sign_in": true,
                ],
                "sign_up": [
                    "mode": .string(settings.signUpMode), "captcha_enabled": .bool(wantsCaptcha),
                    "legal_consent_enabled": .bool(settings.requiredFields.contains("legal_accepted")),
                ],
                "social": .object(
                    settings.socialStrategies.map {
                        JSONValue.Member($0, ["enabled": true, "authenticatable": true, "strategy": .string($0)])
                    }
                ),
                "attack_protection": [
                    "user_lockout": [
                        "enabled": .bool(lockout.threshold > 0), "max_attempts": .int(lockout.threshold),
                        "duration_in_minutes": .optional(lockout.duration.map { ($0 + 59_999) / 60_000 }),
                    ],
                    "enumeration_protection": ["enabled": .bool(settings.protectsAgainstEnumeration)],
                ],
            ],
            "organization_settings": ["enabled": false],
            "maintenance_mode": false,
        ]
    }

    /// An attribute of people that can be a second factor.
    private static func attribute(
        _ name: String,
        _ strategies: [String],
        _ settings: SandboxSettings,
        isKnown: Bool = false
    ) -> JSONValue {
        let isFactor = settings.secondFactorAttributes.contains(name)
        return [
            "enabled": .bool(isKnown || isFactor), "used_for_second_factor": .bool(isFactor),
            "second_factors": .texts(isFactor ? strategies : []),
        ]
    }
}

extension ClerkSession {
    /// Minutes since the first and the second factor were proved; -1 for never.
    func factorAges(at now: Int64) -> JSONValue {
        .array([.first, .second].map { step in provedAt[step].map { .int(max(0, (now - $0) / 60_000)) } ?? .int(-1) })
    }
}
