import HTTPRecovery

// What somebody does about their account as a whole, and about its e-mail addresses and phone numbers.
extension ClerkWorld {
    /// Deletes the person; their sessions end with them.
    mutating func deleteUser(_ id: String, _ call: ClerkCall) -> JSONValue {
        for session in sessions.values where session.account == id { finish(session.id, as: "removed", now: call.now) }
        accounts[id] = nil
        accountOrder.removeAll { $0 == id }
        accountsByIdentifier = accountsByIdentifier.filter { $0.value != id }
        return wrapped(["object": "user", "id": .string(id), "deleted": true], call.client)
    }

    /// Adds, proves and takes away addresses of a kind.
    mutating func answer(
        _ kind: ClerkContactKind,
        _ call: ClerkCall,
        _ session: ClerkSession
    ) throws(ClerkFailure) -> JSONValue {
        switch call.route.replacing("me/\(kind.path)", with: "") {
        // The list alone comes without a wrapper.
        case "GET ": return .array(accounts[session.account].map { kind.views(of: $0) } ?? [])
        case "GET /{id}":
            let views = accounts[session.account].map { kind.views(of: $0) } ?? []
            guard let found = views.first(where: { $0["id"]?.string == call.id }) else { throw .notFound(kind.words) }
            return wrapped(found, call.client)
        case "POST ": return try add(kind, call, session)
        case "POST /{id}/prepare_verification":
            var new = try newContact(kind, call, session)
            try new.proof?.checkResend(call)
            guard call.strategy == kind.strategy else { throw .invalidValue("strategy", call.strategy) }
            new.proof = sendCode(to: new.contact.address, for: new.contact.id, call)
            accounts[session.account]?[keyPath: kind.new][call.id] = new
            return wrapped(kind.view(new.contact, isVerified: false, of: accounts[session.account]), call.client)
        case "POST /{id}/attempt_verification": return try verify(kind, call, session)
        case "DELETE /{id}": return try remove(kind, call, session)
        default: throw .notFound("such endpoint")
        }
    }

    private mutating func add(
        _ kind: ClerkContactKind,
        _ call: ClerkCall,
        _ session: ClerkSession
    ) throws(ClerkFailure) -> JSONValue {
        let address = try call.required(kind.name)
        try kind.check(address)
        if accountsByIdentifier[address.lowercased()] != nil { throw .taken(kind.name, "is taken") }
        let contact = ClerkAccount.Contact(id: call.context.random.identifier("idn_"), address: address)
        accounts[session.account]?[keyPath: kind.new][contact.id] = (contact, nil)
        return wrapped(kind.view(contact, isVerified: false, of: accounts[session.account]), call.client)
    }

    private func newContact(
        _ kind: ClerkContactKind,
        _ call: ClerkCall,
        _ session: ClerkSession
    ) throws(ClerkFailure) -> ClerkAccount.NewContact {
        guard let account = accounts[session.account] else { throw .notFound("user") }
        if let new = account[keyPath: kind.new][call.id] { return new }
        let isProved = account[keyPath: kind.proved].contains { $0.id == call.id }
        throw isProved ? .verificationAlreadyVerified : .notFound(kind.words)
    }

    private mutating func verify(
        _ kind: ClerkContactKind,
        _ call: ClerkCall,
        _ session: ClerkSession
    ) throws(ClerkFailure) -> JSONValue {
        let new = try newContact(kind, call, session)
        guard var proof = new.proof else { throw .verificationMissing }
        let isRight = try proof.attempt(try call.required("code"), call)
        accounts[session.account]?[keyPath: kind.new][call.id]?.proof = proof
        if !isRight { throw proof.failure }
        accounts[session.account]?[keyPath: kind.new][call.id] = nil
        accounts[session.account]?[keyPath: kind.proved].append(new.contact)
        accountsByIdentifier[new.contact.address.lowercased()] = session.account
        return wrapped(kind.view(new.contact, isVerified: true, of: accounts[session.account]), call.client)
    }

    /// Takes an address away; the last e-mail address stays.
    private mutating func remove(
        _ kind: ClerkContactKind,
        _ call: ClerkCall,
        _ session: ClerkSession
    ) throws(ClerkFailure) -> JSONValue {
        let deleted: JSONValue = ["object": .string(kind.name), "id": .string(call.id), "deleted": true]
        if accounts[session.account]?[keyPath: kind.new].removeValue(forKey: call.id) != nil {
            return wrapped(deleted, call.client)
        }
        guard let contacts = accounts[session.account]?[keyPath: kind.proved],
            let contact = contacts.first(where: { $0.id == call.id })
        else { throw .notFound(kind.words) }
        guard contacts.count > 1 || !kind.isNeeded else {
            throw ClerkFailure(400, "last_required_identification_deletion_failed", "Deletion failed")
                .saying("You cannot delete your last e-mail address.")
        }
        accounts[session.account]?[keyPath: kind.proved].removeAll { $0.id == contact.id }
        accountsByIdentifier[contact.address.lowercased()] = nil
        return wrapped(deleted, call.client)
    }

    /// Changes what the person says about themselves; what is primary is the first of its kind.
    mutating func updateUser(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        for kind in [ClerkContactKind.emailAddress, .phoneNumber] {
            let parameter = "primary_\(kind.name)_id"
            guard let id = call.field(parameter), var contacts = accounts[session.account]?[keyPath: kind.proved] else {
                continue
            }
            guard let place = contacts.firstIndex(where: { $0.id == id }) else {
                let isNew = accounts[session.account]?[keyPath: kind.new][id] != nil
                throw isNew ? .verificationNeeded(parameter) : .resourceUnknown(parameter)
            }
            contacts.insert(contacts.remove(at: place), at: 0)
            accounts[session.account]?[keyPath: kind.proved] = contacts
        }
        if let name = call.field("first_name") { accounts[session.account]?.user.firstName = name }
        if let name = call.field("last_name") { accounts[session.account]?.user.lastName = name }
        return wrapped(userView(session.account), call.client)
    }
}
