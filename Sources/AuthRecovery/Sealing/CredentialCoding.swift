import HTTPRecovery

/// Credentials in the form in which a store writes them: plain JSON, or sealed.
///
/// The sealed form is a JSON object with one member, `{"sealed":"…"}` in Base64, so that a program without the key can
/// tell what it has before it.
struct CredentialCoding: Sendable {
    /// The key of the sealed form's member.
    static let sealedKey = "sealed"

    private let sealing: (any CredentialSealing)?
    private let place: String

    /// The plain form.
    static let plain = CredentialCoding(sealing: nil, identity: "")

    /// Creates a coding.
    ///
    /// - Parameters:
    ///   - sealing: What seals; nil writes plain JSON.
    ///   - identity: Whose credentials they are; what is sealed is bound to it.
    init(sealing: (any CredentialSealing)?, identity: String) {
        self.sealing = sealing
        self.place = "credentials:\(identity)"
    }

    /// The form in which the credentials are stored.
    func encode(_ credentials: Credentials) throws(Credentials.StoreError) -> [UInt8] {
        let plain = Array(credentials.json.description.utf8)
        guard let sealing else { return plain }
        do {
            let sealed = JSONValue.string(Base64.encode(try sealing.seal(plain, at: place)))
            return Array(JSONValue.object([JSONValue.Member(Self.sealedKey, sealed)]).description.utf8)
        } catch {
            throw Credentials.StoreError(
                "the credentials cannot be sealed, and were not stored (\(Self.text(of: error)))"
            )
        }
    }

    /// The credentials of a stored form; with a sealing, of a plain one too, which the next change seals.
    func decode(_ bytes: [UInt8]) throws(Credentials.StoreError) -> Credentials {
        let json = try Self.parse(bytes, what: "the stored credentials are")
        guard let sealing, let value = json[Self.sealedKey] else { return try Credentials(json: json) }
        guard json.members?.count == 1, let text = value.string, let sealed = Base64.decode(text.utf8) else {
            throw Credentials.StoreError(
                "the stored credentials are sealed, but not in a form that this version can read"
            )
        }
        let plain: [UInt8]
        do {
            plain = try sealing.open(sealed, at: place)
        } catch {
            throw Credentials.StoreError(
                "the stored credentials are sealed and cannot be opened (\(Self.text(of: error))); "
                    + "give the store the key and the name that they were sealed with"
            )
        }
        return try Credentials(json: try Self.parse(plain, what: "what was sealed is"))
    }

    private static func parse(_ bytes: [UInt8], what: String) throws(Credentials.StoreError) -> JSONValue {
        do {
            return try JSONValue(parsing: bytes)
        } catch {
            throw Credentials.StoreError("\(what) not JSON (\(error))")
        }
    }

    /// An error's text, if its type promises that it holds no secret.
    private static func text(of error: any Error) -> String {
        (error as? Credentials.SealingError)?.description ?? "\(type(of: error))"
    }
}
