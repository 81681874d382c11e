extension SharedState.Gate.Key {
    /// The key as stores outside the process know it: the same text for all who use the same salt, without a name that
    /// could tell of a person or a credential.
    ///
    /// - Parameter salt: What all who share the store have, such as its namespace and a secret. Without a secret it keeps
    ///   tables that were made beforehand, and fingerprints of other namespaces, from being of use; who reads the store
    ///   and guesses a name can still see that the guess is right.
    package func stableText(salt: Fingerprint.Salt) -> String {
        let digest = name.isEmpty ? "" : Fingerprint.text(of: name, salt: salt)
        return "\(scope.rawValue)|\(origin)|\(digest)"
    }
}

extension SharedState.Gate {
    /// What a store keeps of a gate beside its key and its time.
    package var payload: JSONValue {
        var members = [JSONValue.Member("reason", .string(reason.rawValue))]
        if let code { members.append(JSONValue.Member("code", .string(code))) }
        if let userMessage { members.append(JSONValue.Member("user_message", .string(userMessage))) }
        if let known = remedies.gateMemory { members.append(known) }
        return .object(members)
    }

    /// Reads what a store has kept of a gate; a payload that cannot be read is a gate all the same.
    package init(key: Key, payload: String, opensAt: Timestamp?, forgottenAt: Timestamp? = nil) {
        let json = try? JSONValue(parsing: payload)
        let reason = json?["reason"]?.string.flatMap { Outcome.Kind(rawValue: $0) }
        self.init(
            key: key,
            reason: reason ?? (key.scope == .account ? .accountLocked : .rateLimited),
            opensAt: opensAt,
            forgottenAt: forgottenAt,
            code: json?["code"]?.string,
            userMessage: json?["user_message"]?.string,
            remedies: [Outcome.Remedy](ofGate: json)
        )
    }
}

extension [Outcome.Remedy] {
    /// The member of a gate that is written down; nil where there are none.
    var gateMemory: JSONValue.Member? {
        isEmpty ? nil : JSONValue.Member("remedies", .array(map { .string($0.rawValue) }))
    }

    /// Reads ``gateMemory``, without what a newer version may know.
    init(ofGate json: JSONValue?) {
        self = (json?["remedies"]?.array ?? []).prefix(32).compactMap {
            $0.string.flatMap { Outcome.Remedy(rawValue: $0) }
        }
    }
}
