import HTTPRecovery

// What somebody who is signed in does about their account and organizations, and what finishes the tasks of a session.
extension ClerkWorld {
    /// What only somebody does who has proved themselves of late.
    private static let sensitive: Set<String> = [
        "DELETE me", "POST me/change_password", "POST me/sessions/{id}/revoke", "POST me/totp", "DELETE me/totp",
        "POST me/backup_codes", "POST me/passkeys", "DELETE me/passkeys/{id}", "POST me/phone_numbers",
        "PATCH me/phone_numbers/{id}", "DELETE me/phone_numbers/{id}", "POST me/email_addresses",
        "DELETE me/email_addresses/{id}",
    ]

    /// Refuses somebody who has not proved themselves of late, by the strongest that the session was made with.
    private func checkFresh(_ session: ClerkSession, _ call: ClerkCall) throws(ClerkFailure) {
        let step: ClerkStep = session.provedAt[.second] == nil ? .first : .second
        let freshFor = call.settings.freshFor
        guard let proved = session.provedAt[step], call.now - proved < freshFor else {
            throw .reverificationRequired(level: step.rawValue, minutes: freshFor / 60_000)
        }
    }

    mutating func answerSomebodySignedIn(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let session = try speakingSession(call)
        if !call.route.hasPrefix("GET ") { try checkHuman(call, before: "account") }
        if Self.sensitive.contains(call.route) { try checkFresh(session, call) }
        switch call.route {
        case "GET me": return wrapped(userView(session.account), call.client)
        case "PATCH me": return try updateUser(call, session)
        case "POST me/change_password": return try changePassword(call, session)
        case "DELETE me": return deleteUser(session.account, call)
        case "POST me/sessions/{id}/revoke": return try revokeOwnSession(call)
        case "GET me/sessions/active":
            let live = sessions.values.filter { $0.account == session.account && $0.isLive }
            return .array(live.map(\.id).sorted().map { sessionView($0).adding("latest_activity", activityView($0)) })
        case "GET me/organization_memberships":
            let own = organizations.values.filter { $0.members.contains(session.account) }
            let entries = own.sorted { $0.id < $1.id }.map { organization -> JSONValue in
                ["object": "organization_membership", "role": "org:member", "organization": Self.view(organization)]
            }
            return wrapped(["data": .array(entries), "total_count": .int(Int64(entries.count))], call.client)
        case "GET me/organization_invitations":
            let entries = invitations(of: session.account).map {
                Self.view(invitation: $0.id, $0.organization, "pending")
            }
            return wrapped(["data": .array(entries), "total_count": .int(Int64(entries.count))], call.client)
        case "GET me/organization_suggestions": return wrapped(["data": [], "total_count": 0], call.client)
        case "POST me/organization_invitations/{id}/accept": return try accept(call, session)
        case "POST organizations": return try createOrganization(call, session)
        case "POST me/totp": return try createTOTP(call, session)
        case "POST me/totp/attempt_verification": return try verifyTOTP(call, session)
        case "DELETE me/totp":
            accounts[session.account]?.user.totpSecret = nil
            return wrapped(["object": "totp", "deleted": true], call.client)
        case let route where route.contains("me/email_addresses"):
            return try answer(.emailAddress, call, session)
        case let route where route.contains("me/trusted_devices"): return try answerTrustedDevices(call, session)
        case "POST me/passkeys": return try createPasskey(call, session)
        case "POST me/passkeys/{id}/attempt_verification": return try verifyPasskey(call, session)
        case "DELETE me/passkeys/{id}": return try removePasskey(call, session)
        case "POST me/backup_codes":
            let codes = makeBackupCodes(session.account, call)
            return wrapped(["object": "backup_code", "codes": .texts(codes)], call.client)
        case "PATCH me/phone_numbers/{id}": return try updatePhone(call, session)
        case let route where route.contains("me/phone_numbers"): return try answer(.phoneNumber, call, session)
        default: throw .notFound("such endpoint")
        }
    }

    /// Does away with a task; the session is active once it has none.
    mutating func finish(task: String, of id: String) {
        sessions[id]?.tasks.removeAll { $0 == task }
        if let account = sessions[id]?.account { accounts[account]?.user.tasks.removeAll { $0 == task } }
        if let session = sessions[id], session.status == "pending", session.tasks.isEmpty {
            sessions[id]?.status = "active"
        }
    }

    // MARK: Organizations

    /// The id of the organization with a name, which is made if there is none.
    mutating func organization(named name: String, random: inout SplitMix64) -> String {
        if let found = organizations.values.first(where: { $0.name == name }) { return found.id }
        let organization = ClerkOrganization(id: random.identifier("org_"), name: name)
        organizations[organization.id] = organization
        return organization.id
    }

    func checkMember(of id: String, _ session: ClerkSession) throws(ClerkFailure) {
        guard organizations[id]?.members.contains(session.account) == true else { throw .notFound("organization") }
    }

    private func invitations(of account: String) -> [(id: String, organization: ClerkOrganization)] {
        organizations.values.flatMap { organization in
            organization.invitations.filter { $0.value == account }.map { ($0.key, organization) }
        }
        .sorted { $0.id < $1.id }
    }

    private mutating func accept(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        guard let own = invitations(of: session.account).first(where: { $0.id == call.id }) else {
            throw .notFound("invitation")
        }
        organizations[own.organization.id]?.invitations[own.id] = nil
        organizations[own.organization.id]?.members.insert(session.account)
        return wrapped(Self.view(invitation: own.id, own.organization, "accepted"), call.client)
    }

    private mutating func createOrganization(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure)
        -> JSONValue
    {
        let name = try call.required("name")
        if organizations.values.contains(where: { $0.name == name }) {
            throw ClerkFailure("slug", "form_identifier_exists", "is taken").saying("That slug is taken.")
        }
        let id = organization(named: name, random: &call.context.random)
        organizations[id]?.members.insert(session.account)
        return wrapped(organizations[id].map(Self.view) ?? .null, call.client)
    }

    private static func view(_ organization: ClerkOrganization) -> JSONValue {
        let slug = organization.name.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "-" }
        return [
            "object": "organization", "id": .string(organization.id), "name": .string(organization.name),
            "slug": .string(String(slug)), "members_count": .int(Int64(organization.members.count)),
        ]
    }

    private static func view(invitation id: String, _ organization: ClerkOrganization, _ status: String) -> JSONValue {
        [
            "object": "organization_invitation", "id": .string(id), "status": .string(status), "role": "org:member",
            "public_organization_data": view(organization),
        ]
    }

    // MARK: Second factors

    private mutating func createTOTP(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        guard let user = accounts[session.account]?.user else { throw .notFound("user") }
        guard call.settings.secondFactorAttributes.contains("authenticator_app") else { throw .featureNotEnabled }
        if user.totpSecret != nil {
            throw ClerkFailure(400, "totp_already_enabled", "TOTP is enabled already").saying("It is enabled already.")
        }
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        let secret = String((0..<32).map { _ in letters[Int.random(in: 0..<32, using: &call.context.random)] })
        accounts[session.account]?.newTOTPSecret = secret
        let uri = "otpauth://totp/sandbox:\(user.identifier)?secret=\(secret)&issuer=sandbox"
        return wrapped(
            ["object": "totp", "secret": .string(secret), "uri": .string(uri), "verified": false],
            call.client
        )
    }

    private mutating func verifyTOTP(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        let code = try call.required("code")
        guard let secret = accounts[session.account]?.newTOTPSecret else { throw .verificationMissing }
        let present = TOTP.step(atMilliseconds: call.now)
        let bytes = Base32.decode(secret) ?? []
        guard (present - 1...present + 1).contains(where: { TOTP.code(secret: bytes, step: $0) == code }) else {
            throw .codeIncorrect
        }
        accounts[session.account]?.newTOTPSecret = nil
        accounts[session.account]?.user.totpSecret = secret
        finish(task: "setup-mfa", of: session.id)
        return wrapped(
            ["object": "totp", "verified": true, "backup_codes": firstBackupCodes(session.account, call)],
            call.client
        )
    }

    /// The backup codes that come with the first second factor; none for somebody who has some.
    private mutating func firstBackupCodes(_ account: String, _ call: ClerkCall) -> JSONValue {
        let isWanted = call.settings.secondFactorAttributes.contains("backup_code")
        return isWanted && accounts[account]?.backupCodes.isEmpty == true
            ? .texts(makeBackupCodes(account, call)) : .null
    }

    private mutating func makeBackupCodes(_ account: String, _ call: ClerkCall) -> [String] {
        let codes = (0..<10).map { _ in call.context.random.letters(8).lowercased() }
        accounts[account]?.backupCodes = codes
        return codes
    }

    private mutating func updatePhone(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        guard let account = accounts[session.account],
            let contact = account.phones.first(where: { $0.id == call.id })
        else { throw .notFound("phone number") }
        var codes = JSONValue.null
        if call.field("reserved_for_second_factor") == "true" {
            guard call.settings.secondFactorAttributes.contains("phone_number") else { throw .featureNotEnabled }
            let factors = account.user.secondFactors ?? ["totp", "backup_code"]
            if !factors.contains("phone_code") { accounts[account.id]?.user.secondFactors = factors + ["phone_code"] }
            codes = firstBackupCodes(account.id, call)
            finish(task: "setup-mfa", of: session.id)
        }
        return wrapped(
            ClerkContactKind.phoneNumber.view(contact, isVerified: true, of: accounts[session.account]).adding(
                "backup_codes",
                codes
            ),
            call.client
        )
    }
}
