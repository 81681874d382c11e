public import HTTPRecovery

extension Credentials {
    /// Reads the stored form: a JSON object.
    ///
    /// Unknown members are kept; members of a wrong type count as unknown until their key gets a value of its own; a
    /// `null` is as good as no member.
    ///
    /// - Throws: ``Credentials/StoreError`` when the value is no object, or holds sealed credentials.
    public init(json: JSONValue) throws(Credentials.StoreError) {
        guard let members = json.members else {
            throw Credentials.StoreError("the stored credentials are not a JSON object")
        }
        guard json[CredentialCoding.sealedKey] == nil else {
            throw Credentials.StoreError(
                "the stored credentials are sealed; give the store the sealing and the key that they were sealed with"
            )
        }
        self.init()
        for member in members {
            guard let key = StoredKey(rawValue: member.key) else {
                others.append(member)
                continue
            }
            // If a key repeats, the last member counts.
            others.removeAll { $0.key == member.key }
            if !read(member.value, as: key), !member.value.isNull { others.append(member) }
        }
    }

    private mutating func read(_ value: JSONValue, as key: StoredKey) -> Bool {
        switch key {
        case .accessToken: accessToken = value.secret
        case .refreshToken: refreshToken = value.secret
        case .clientToken: clientToken = value.secret
        case .ssoToken: ssoToken = value.secret
        case .sessionID: sessionID = value.string
        case .expiresAt: expiresAt = value.time
        case .tokenType: tokenType = value.string
        case .renewalBeganAt: renewalBeganAt = value.time
        case .renewalBootTime: renewalBootTime = value.string.flatMap(BootClock.Value.init(text:))
        case .renewalRepeats: renewalRepeats = value.string.flatMap { UInt32($0) } ?? 0
        }
        return self[stored: key] != nil
    }

    /// The stored form, secrets included: known members first, then those that were kept.
    public var json: JSONValue {
        let known = StoredKey.allCases.compactMap { key in
            self[stored: key].map { JSONValue.Member(key.rawValue, .string($0)) }
        }
        let kept = others.filter { other in !known.contains { $0.key == other.key } }
        return .object(known + kept)
    }

    private subscript(stored key: StoredKey) -> String? {
        switch key {
        case .accessToken: accessToken?.reveal()
        case .refreshToken: refreshToken?.reveal()
        case .expiresAt: expiresAt?.rfc3339
        case .tokenType: tokenType
        case .clientToken: clientToken?.reveal()
        case .sessionID: sessionID
        case .ssoToken: ssoToken?.reveal()
        case .renewalBeganAt: renewalBeganAt?.rfc3339
        case .renewalBootTime: renewalBootTime?.text
        case .renewalRepeats: renewalRepeats == 0 ? nil : "\(renewalRepeats)"
        }
    }
}

extension BootClock.Value {
    /// Reads the stored form: the run of the machine, a space, microseconds.
    fileprivate init?(text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, let microseconds = Int64(words[1]), microseconds >= 0 else { return nil }
        self.init(boot: String(words[0]), microseconds: microseconds)
    }

    /// The stored form; nil if the run of the machine is not known.
    fileprivate var text: String? { boot.isEmpty ? nil : "\(boot) \(microseconds)" }
}

extension JSONValue {
    fileprivate var secret: Secret? {
        string.map { Secret($0) }
    }

    /// A time as RFC 3339 or as epoch seconds, which some programs write as text.
    fileprivate var time: Timestamp? {
        if let number { return Timestamp(sinceEpoch: number.seconds) }
        guard let string else { return nil }
        return Timestamp(rfc3339: string)
            ?? (try? JSONValue(parsing: string).number).map { Timestamp(sinceEpoch: $0.seconds) }
    }
}
