import HTTPRecovery

// What somebody does about their account as a whole, and about its e-mail addresses.
extension ClerkWorld {
    /// Deletes the person; their sessions end with them.
    mutating func deleteUser(_ id: String, _ call: ClerkCall) -> JSONValue {
        for session in sessions.values where session.account == id { finish(session.id, as: "removed", now: call.now) }
        accounts[id] = nil
        accountOrder.removeAll { $0 == id }
        accountsByIdentifier = accountsByIdentifier.filter { $0.value != id }
        return wrapped(["object": "user", "id": .string(id), "deleted": true], call.client)
    }

    mutating func answerEmailAddresses(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        switch call.route {
        case "POST me/email_addresses": return try addEmail(call, session)
        case "POST me/email_addresses/{id}/prepare_verification":
            var new = try newEmail(call, session)
            try new.proof?.checkResend(call)
            guard call.strategy == "email_code" else { throw .invalidValue("strategy", call.strategy) }
            new.proof = sendCode(to: new.contact.address, for: new.contact.id, call)
            accounts[session.account]?.newEmails[call.id] = new
            return wrapped(Self.view(email: new.contact, isVerified: false), call.client)
        case "POST me/email_addresses/{id}/attempt_verification": return try verifyEmail(call, session)
        case "DELETE me/email_addresses/{id}": return try removeEmail(call, session)
        default: throw .notFound("such endpoint")
        }
    }

    private mutating func addEmail(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        let address = try call.required("email_address")
        guard address.contains("@") else {
            throw ClerkFailure("email_address", "form_param_format_invalid", "is invalid")
        }
        if accountsByIdentifier[address.lowercased()] != nil { throw .taken("email_address", "is taken") }
        let contact = ClerkAccount.Contact(id: call.context.random.identifier("idn_"), address: address)
        accounts[session.account]?.newEmails[contact.id] = (contact, nil)
        return wrapped(Self.view(email: contact, isVerified: false), call.client)
    }

    private func newEmail(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> (
        contact: ClerkAccount.Contact, proof: ClerkProof?
    ) {
        guard let account = accounts[session.account] else { throw .notFound("user") }
        if let new = account.newEmails[call.id] { return new }
        throw account.emails.contains { $0.id == call.id } ? .verificationAlreadyVerified : .notFound("email address")
    }

    private mutating func verifyEmail(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        let new = try newEmail(call, session)
        guard var proof = new.proof else { throw .verificationMissing }
        let isRight = try proof.attempt(try call.required("code"), call)
        accounts[session.account]?.newEmails[call.id]?.proof = proof
        if !isRight { throw proof.failure }
        accounts[session.account]?.newEmails[call.id] = nil
        accounts[session.account]?.emails.append(new.contact)
        accountsByIdentifier[new.contact.address.lowercased()] = session.account
        return wrapped(Self.view(email: new.contact, isVerified: true), call.client)
    }

    /// Takes an address away; the last one stays.
    private mutating func removeEmail(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        guard let emails = accounts[session.account]?.emails, let email = emails.first(where: { $0.id == call.id })
        else { throw .notFound("email address") }
        guard emails.count > 1 else {
            throw ClerkFailure(400, "last_required_identification_deletion_failed", "Deletion failed")
                .saying("You cannot delete your last e-mail address.")
        }
        accounts[session.account]?.emails.removeAll { $0.id == email.id }
        accountsByIdentifier[email.address.lowercased()] = nil
        return wrapped(["object": "email_address", "id": .string(email.id), "deleted": true], call.client)
    }

    private static func view(email contact: ClerkAccount.Contact, isVerified: Bool) -> JSONValue {
        [
            "object": "email_address", "id": .string(contact.id), "email_address": .string(contact.address),
            "verification": ["status": isVerified ? "verified" : "unverified", "strategy": "email_code"],
        ]
    }
}
