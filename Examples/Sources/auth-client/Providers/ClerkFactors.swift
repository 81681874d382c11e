import AuthRecovery
import ClerkAuth
import CommandLineSupport
import HTTPRecovery

/// What somebody can prove themselves with at Clerk: what there is, and what is set up or taken away.
///
/// The kinds are named as the answers are: `totp`, `backup_code`, `email_code`, `phone_code` and `webauthn` for a passkey.
extension Clerk {
    /// A line for each: its kind, and where there may be several its id and what it is.
    func factorLines() async throws -> [ScreenText] {
        guard try await session() != nil else { throw RecoveryError.notSignedIn }
        let person = try await person()
        var lines: [ScreenText] = []
        if person["password_enabled"]?.bool == true { lines.append("password") }
        if person["totp_enabled"]?.bool == true { lines.append("totp") }
        if person["backup_code_enabled"]?.bool == true { lines.append("backup_code") }
        lines += try await emailAddresses().map { Self.line("email_code", $0) }
        lines += try await phoneNumbers().map { Self.line("phone_code", $0) }
        for passkey in person["passkeys"]?.array ?? [] {
            let name = passkey["name"]?.string ?? ""
            lines.append("webauthn  \(passkey["id"]?.string ?? "", limit: 100)  \(name, limit: 100)")
        }
        return lines
    }

    /// Sets one up.
    ///
    /// - Parameters:
    ///   - kind: What, by the key of its answers.
    ///   - input: Answers what is asked: a code of the new app or phone, and the proof that it is the same person.
    func addFactor(_ kind: String, _ input: SignInInput) async throws -> [ScreenText] {
        let responder = input.responder
        let codes: [Secret]
        switch Factor.Key(rawValue: kind) {
        case .totp:
            let totp = try await createTOTP(answering: responder)
            codes = try await proving(
                Factor(key: .totp, providerName: "totp"),
                setup: totp.uri.isEmpty ? totp.secret : totp.uri,
                responder
            ) {
                try await verifyTOTP(code: $0, answering: responder)
            }
        case .backupCode:
            codes = try await createBackupCodes(answering: responder)
        case .emailCode:
            let address = Challenge(
                factor: Factor(key: .text, providerName: "email_address"),
                prompt: "E-mail address"
            )
            let id = try await addEmailAddress(try await text(address, responder).reveal(), answering: responder)
            let factor = Factor(key: .emailCode, providerName: "email_code", id: id)
            let resend = { try await sendCode(toEmailAddress: id, answering: responder) }
            codes = try await proving(factor, responder, resend: resend) {
                try await verifyEmailAddress(id, code: $0, answering: responder)
                return []
            }
        case .phoneCode:
            let number = Challenge(factor: Factor(key: .phoneNumber, providerName: "phone_number"))
            let id = try await addPhoneNumber(try await text(number, responder).reveal(), answering: responder)
            let factor = Factor(key: .phoneCode, providerName: "phone_code", id: id)
            let resend = { try await sendCode(toPhoneNumber: id, answering: responder) }
            codes = try await proving(factor, responder, resend: resend) {
                try await verifyPhoneNumber(id, code: $0, forSecondFactor: true, answering: responder)
            }
        case .webauthn:
            return ["Set up: webauthn  \(try await createPasskey(answering: responder), limit: 100)"]
        default:
            throw InputError("add-factor sets up totp, backup_code, email_code, phone_code or webauthn")
        }
        // They are shown this once: whoever reads the output wants them above all.
        let shown = codes.map { code -> ScreenText in "\(code.reveal(), limit: 100)" }
        return ["Set up: \(kind, limit: 100)"] + (shown.isEmpty ? [] : ["Write down these backup codes:"] + shown)
    }

    /// Takes one away.
    ///
    /// - Parameters:
    ///   - name: `totp`, or the id of an e-mail address, a phone number or a passkey.
    ///   - input: Answers the proof that it is the same person.
    func removeFactor(_ name: String, _ input: SignInInput) async throws -> [ScreenText] {
        let responder = input.responder
        let taken: [ScreenText] = ["Taken away: \(name, limit: 100)"]
        if name == Factor.Key.totp.rawValue {
            try await removeTOTP(answering: responder)
            return taken
        }
        let person = try await person()
        func has(_ list: String) -> Bool { person[list]?.array?.contains { $0["id"]?.string == name } ?? false }
        if has("email_addresses") {
            try await removeEmailAddress(name, answering: responder)
        } else if has("phone_numbers") {
            try await removePhoneNumber(name, answering: responder)
        } else if has("passkeys") {
            try await removePasskey(name, answering: responder)
        } else {
            throw InputError(
                "remove-factor takes totp, or the id of an e-mail address, phone number or passkey, as factors lists them"
            )
        }
        return taken
    }

    /// Makes an e-mail address or a phone number the primary one.
    ///
    /// - Parameters:
    ///   - id: Its id.
    ///   - input: Answers the proof that it is the same person.
    func makePrimary(_ id: String, _ input: SignInInput) async throws -> [ScreenText] {
        if try await emailAddresses().contains(where: { $0.id == id }) {
            try await makePrimary(emailAddress: id, answering: input.responder)
        } else if try await phoneNumbers().contains(where: { $0.id == id }) {
            try await makePrimary(phoneNumber: id, answering: input.responder)
        } else {
            throw InputError("make-primary takes the id of an e-mail address or phone number, as factors lists them")
        }
        return ["Primary: \(id, limit: 100)"]
    }

    private static func line(_ kind: ScreenText, _ contact: ClerkContact) -> ScreenText {
        let marks = [
            contact.isVerified ? nil : "not verified", contact.isPrimary ? "primary" : nil,
            contact.isSecondFactor ? "second factor" : nil,
        ].compactMap(\.self)
        let use: ScreenText = marks.isEmpty ? "" : " (\(marks.joined(separator: ", "), limit: 100))"
        return "\(kind)  \(contact.id, limit: 100)  \(contact.address, limit: 100)\(use)"
    }

    /// Asks for the code until it is right, nobody has one, or the server has enough.
    private func proving(
        _ factor: Factor,
        setup: Secret? = nil,
        _ responder: Responder,
        resend: (() async throws -> Void)? = nil,
        _ verify: (Secret) async throws -> [Secret]
    ) async throws -> [Secret] {
        var challenge = Challenge(factor: factor, setup: setup)
        while true {
            switch try await responder.answer(challenge) {
            case .text(let code):
                do {
                    return try await verify(code)
                } catch let error as RecoveryError where error.kind == .challengeIncorrect {
                    await responder.notice(error.outcome)
                    challenge.previousFailure = error.outcome
                    challenge.round += 1
                    // It stands on the screen already.
                    challenge.setup = nil
                }
            case .resend where resend != nil: try await resend?()
            default: throw Challenge.NoAnswer(challenge.key)
            }
        }
    }

    private func text(_ challenge: Challenge, _ responder: Responder) async throws -> Secret {
        guard case .text(let text) = try await responder.answer(challenge) else {
            throw Challenge.NoAnswer(challenge.key)
        }
        return text
    }

    private func person() async throws -> JSONValue {
        try await send(path: "/v1/me").json()["response"] ?? .null
    }
}
