import HTTPRecovery

// The resources as they go over the wire.
extension ClerkWorld {
    func clientView(_ id: String) -> JSONValue {
        guard let client = clients[id] else { return .null }
        return [
            "object": "client",
            "id": .string(id),
            "sessions": .array(client.sessions.map(sessionView)),
            "sign_in": client.signIn.map(signInView) ?? .null,
            "sign_up": client.signUp.map(signUpView) ?? .null,
            "last_active_session_id": .optional(client.lastActiveSession),
            "last_authentication_strategy": .optional(client.lastStrategy),
            "cookie_expires_at": .null,
            "captcha_bypass": false,
            "created_at": .int(client.createdAt),
            "updated_at": .int(client.updatedAt),
        ]
    }

    func sessionView(_ id: String) -> JSONValue {
        guard let session = sessions[id] else { return .null }
        let ages = [session.firstFactorAt, session.secondFactorAt].map { Self.age($0, session.lastActiveAt) }
        let account = accounts[session.account]
        return [
            "object": "session",
            "id": .string(id),
            "status": .string(session.status),
            "expire_at": .int(session.expireAt),
            "abandon_at": .int(session.createdAt + 2_592_000_000),
            "last_active_at": .int(session.lastActiveAt),
            "last_active_organization_id": .null,
            "actor": .null,
            "user": userView(session.account),
            "public_user_data": [
                "first_name": .optional(account?.user.firstName),
                "last_name": .optional(account?.user.lastName),
                "image_url": "",
                "has_image": false,
                "identifier": .string(account?.user.identifier ?? ""),
                "user_id": .string(session.account),
                "username": .optional(account?.user.username),
            ],
            "factor_verification_age": .array(ages),
            "last_active_token": session.isLive ? ["object": "token", "jwt": .string(session.lastToken)] : .null,
            "tasks": .array(session.tasks.map { ["key": .string($0)] }),
            "created_at": .int(session.createdAt),
            "updated_at": .int(session.updatedAt),
        ]
    }

    func signInView(_ id: String) -> JSONValue {
        guard let signIn = signIns[id] else { return .null }
        let account = signIn.account.flatMap { accounts[$0] }
        let isOver = signIn.status == "complete"
        let hasFirst = signIn.identifier != nil && !isOver
        let hasSecond = signIn.status == "needs_second_factor" || signIn.status == "needs_client_trust"
        let first = hasFirst ? JSONValue.array(offeredFirstFactors(signIn).map { factor($0, account) }) : .null
        let second = hasSecond ? JSONValue.array(offeredSecondFactors(signIn).map { factor($0, account) }) : .null
        let userData: JSONValue =
            account.map { account in
                [
                    "first_name": .optional(account.user.firstName), "last_name": .optional(account.user.lastName),
                    "image_url": "", "has_image": false,
                ]
            } ?? .null
        var view: JSONValue = [
            "object": "sign_in_attempt",
            "id": .string(id),
            "status": .string(signIn.status),
            "supported_identifiers": ["email_address", "phone_number", "username"],
            "identifier": .optional(signIn.identifier),
            "supported_first_factors": first,
            "supported_second_factors": second,
            "first_factor_verification": verificationView(signIn.first),
            "second_factor_verification": verificationView(signIn.second),
            "user_data": userData,
            "created_session_id": .optional(signIn.createdSession),
            "abandon_at": .int(signIn.abandonAt),
        ]
        if let state = signIn.clientTrustState { view = view.adding("client_trust_state", .string(state)) }
        return view
    }

    func verificationView(_ proof: ClerkSignIn.Verification?) -> JSONValue {
        guard let proof else { return .null }
        return [
            "object": .string(proof.object),
            "status": .string(proof.status),
            "strategy": .string(proof.strategy),
            "attempts": .int(proof.attempts),
            "expire_at": .optional(proof.expireAt),
            "nonce": .optional(proof.nonce),
        ]
    }

    func factor(_ strategy: String, _ account: ClerkAccount?) -> JSONValue {
        var view: JSONValue = ["strategy": .string(strategy)]
        if strategy.hasSuffix("phone_code"), let phone = account?.phones.first {
            view = view.adding("safe_identifier", .string(Self.masked(phone.address)))
                .adding("phone_number_id", .string(phone.id)).adding("primary", true)
        } else if strategy.hasSuffix("email_code") || strategy == "email_link", let email = account?.emails.first {
            view = view.adding("safe_identifier", .string(Self.masked(email.address)))
                .adding("email_address_id", .string(email.id)).adding("primary", true)
        }
        return view
    }

    /// `a***@example.com`, `+493*****56`.
    static func masked(_ address: String) -> String {
        if let at = address.lastIndex(of: "@") { return address.prefix(1) + "***" + address[at...] }
        guard address.count > 6 else { return "***" }
        return address.prefix(4) + String(repeating: "*", count: address.count - 6) + address.suffix(2)
    }

    func userView(_ id: String) -> JSONValue {
        guard let account = accounts[id] else { return .null }
        let verification: JSONValue = [
            "status": "verified", "strategy": "admin", "attempts": .null, "expire_at": .null,
        ]
        let locked = account.lock != .open
        return [
            "object": "user",
            "id": .string(id),
            "username": .optional(account.user.username),
            "first_name": .optional(account.user.firstName),
            "last_name": .optional(account.user.lastName),
            "image_url": "",
            "has_image": false,
            "primary_email_address_id": .optional(account.emails.first?.id),
            "primary_phone_number_id": .optional(account.phones.first?.id),
            "primary_web3_wallet_id": .null,
            "password_enabled": .bool(account.user.password != nil),
            "two_factor_enabled": .bool(!account.secondFactors.isEmpty),
            "totp_enabled": .bool(account.user.totpSecret != nil),
            "backup_code_enabled": .bool(!account.backupCodes.isEmpty),
            "email_addresses": .array(
                account.emails.map { email in
                    [
                        "object": "email_address", "id": .string(email.id), "email_address": .string(email.address),
                        "reserved": false, "verification": verification, "linked_to": [],
                        "created_at": .int(account.createdAt), "updated_at": .int(account.createdAt),
                    ]
                }
            ),
            "phone_numbers": .array(
                account.phones.map { phone in
                    [
                        "object": "phone_number", "id": .string(phone.id), "phone_number": .string(phone.address),
                        "reserved_for_second_factor": .bool(account.secondFactors.contains("phone_code")),
                        "default_second_factor": false, "reserved": false, "verification": verification,
                        "linked_to": [], "created_at": .int(account.createdAt), "updated_at": .int(account.createdAt),
                    ]
                }
            ),
            "web3_wallets": [],
            "passkeys": [],
            "external_accounts": [],
            "saml_accounts": [],
            "enterprise_accounts": [],
            "public_metadata": [:],
            "unsafe_metadata": [:],
            "external_id": .null,
            "last_sign_in_at": .optional(account.lastSignInAt),
            "banned": .bool(account.user.state == "banned"),
            "locked": .bool(locked),
            "lockout_expires_in_seconds": .null,
            "verification_attempts_remaining": .null,
            "delete_self_enabled": true,
            "create_organization_enabled": false,
            "last_active_at": .optional(account.lastSignInAt),
            "created_at": .int(account.createdAt),
            "updated_at": .int(account.createdAt),
        ]
    }

    func environmentView(_ settings: SandboxSettings) -> JSONValue {
        [
            "auth_config": [
                "object": "auth_config", "id": .string("aconf_" + instance),
                "first_factors": .array(SandboxUser.knownFirstFactors.map(JSONValue.string)),
                "second_factors": .array(SandboxUser.knownSecondFactors.map(JSONValue.string)),
                "identification_requirements": [], "single_session_mode": .bool(settings.isSingleSession),
                "native_settings": ["api_enabled": .bool(settings.isNativeAPIEnabled)],
            ],
            "display_config": [
                "object": "display_config", "id": .string("display_config_" + instance),
                "instance_environment_type": "development", "application_name": "auth-sandbox",
                "preferred_sign_in_strategy": "password", "branded": false, "show_devmode_warning": false,
                "home_url": "", "sign_in_url": "", "sign_up_url": "", "user_profile_url": "",
            ],
            "user_settings": [
                "attributes": [
                    "email_address": ["enabled": true, "used_for_first_factor": true, "first_factors": ["email_code"]],
                    "phone_number": ["enabled": true, "used_for_second_factor": true],
                    "password": ["enabled": true],
                    "authenticator_app": ["enabled": true],
                    "backup_code": ["enabled": true],
                ],
                "password_settings": [
                    "min_length": .int(settings.passwordPolicy.minimumLength), "max_length": 72,
                    "require_numbers": .bool(settings.passwordPolicy.requiresNumber),
                    "require_uppercase": .bool(settings.passwordPolicy.requiresUppercase),
                    "require_special_char": .bool(settings.passwordPolicy.requiresSpecial),
                    "enforce_hibp_on_sign_in": true,
                ],
                "attack_protection": [
                    "user_lockout": [
                        "enabled": .bool(settings.lockout.threshold > 0),
                        "max_attempts": .int(settings.lockout.threshold),
                        "duration_in_minutes": .optional(settings.lockout.duration.map { ($0 + 59_999) / 60_000 }),
                    ],
                    "enumeration_protection": ["enabled": .bool(settings.protectsAgainstEnumeration)],
                ],
            ],
            "organization_settings": ["enabled": false],
            "maintenance_mode": false,
        ]
    }
}
