import HTTPRecovery

/// What a person has at Okta: the key `okta` of a scenario's user.
public struct SandboxOktaUser: Sendable, Equatable {
    /// `password`: how the password stands: `ok`, `warn` (it expires soon), `expired` or `reset`.
    ///
    /// Default: `ok`.
    public var passwordStatus = "ok"
    /// `factors`: what has to be proved one of after the password; a list of objects, or of types.
    ///
    /// Nil (absent): an authenticator app for whoever has a `totp_secret`, and a code by phone or e-mail for whoever
    /// has `phone_code` or `email_code` among the `second_factors`.
    public var factors: [Factor]?
    /// `enroll`: what can be set up after that: `{"type": "sms", "enrollment": "REQUIRED"}`.
    public var enrollments: [Enrollment] = []
    /// `recovery_question`: asked where the password is reset or the account unlocked.
    public var recoveryQuestion: String?
    /// `recovery_answer`.
    public var recoveryAnswer: String?
    /// `lockout_shown`: whether a lockout is told of; nil for what the settings say.
    public var showsLockout: Bool?
    /// `unlock`: whether the person may unlock the account themselves.
    ///
    /// Default: true.
    public var mayUnlock = true
    /// `forgot`: whether the person may recover a forgotten password.
    ///
    /// Default: true.
    public var mayRecover = true

    /// `profile`: whether the identity engine knows enough of the person: `complete`, or whether it asks for more, which
    /// has to be told (`incomplete`) or may be left out (`optional`).
    ///
    /// Default: `complete`.
    public var profile = "complete"

    /// Creates somebody with a password that is enough.
    public init() {}

    /// A factor: `{"type": "push", "script": ["WAITING", "SUCCESS"], "number": "42"}`.
    public struct Factor: Sendable, Equatable {
        /// `type`: `push`, `sms`, `call`, `email`, `question`, `token:software:totp`, `webauthn`, `u2f`, `web` (Duo's page) or
        /// `signed_nonce` (Okta Verify on the device itself, at the identity engine alone).
        public var type: String
        /// `provider`.
        ///
        /// Default: `OKTA`, of security keys `FIDO`, of Duo `DUO`.
        public var provider: String
        /// `name`: what the person calls it: the phone, the key; nil for a name of the sandbox's.
        public var name: String?
        /// `destination`: where codes go; nil for the first phone or e-mail address of the person.
        public var destination: String?
        /// `question`, for a security question.
        public var question = "What is the name of your first pet?"
        /// `answer`, for a security question; case does not count.
        public var answer = "Rex"
        /// `script`: what the polls of a push are answered with, one after the other; the last one stays.
        ///
        /// `WAITING`, `SUCCESS`, `REJECTED`, `TIMEOUT`, or any other word as the factor's result. Default: `WAITING`,
        /// until `POST /_sandbox/okta/push` decides.
        public var script = ["WAITING"]
        /// `number`: the number to choose on the phone; nil for a push without one.
        public var number: String?

        /// Creates a factor.
        public init(_ type: String) {
            self.type = type
            provider = ["webauthn": "FIDO", "u2f": "FIDO", "web": "DUO"][type] ?? "OKTA"
        }

        /// A push whose polls are answered so.
        public static func push(_ script: String..., number: String? = nil) -> Factor {
            var factor = Factor("push")
            if !script.isEmpty { factor.script = script }
            factor.number = number
            return factor
        }

        static let prefixes: [(type: String, id: String)] = [
            ("push", "opf"), ("sms", "mbl"), ("call", "clf"), ("email", "emf"), ("question", "ufs"),
            ("token:software:totp", "ost"), ("webauthn", "fwf"), ("u2f", "fuf"), ("web", "dsf"),
            ("signed_nonce", "pfd"),
        ]
        static var knownTypes: [String] { prefixes.map(\.type) }
        static var idPrefixes: [String] { prefixes.map(\.id) }

        /// Whether its code is sent.
        var isSent: Bool { type == "sms" || type == "call" || type == "email" }
    }

    /// A factor that can be set up.
    public struct Enrollment: Sendable, Equatable {
        /// `type`, as of a factor.
        public var type: String
        /// `enrollment`: false (`OPTIONAL`) for one that can be left out.
        ///
        /// Default: true (`REQUIRED`).
        public var isRequired = true

        /// Creates one.
        public init(_ type: String, isRequired: Bool = true) {
            self.type = type
            self.isRequired = isRequired
        }
    }
}

extension SandboxOktaUser: SandboxPart {
    static let key = "okta"
    static let words = [
        "password": ["ok", "warn", "expired", "reset"], "profile": ["complete", "incomplete", "optional"],
    ]

    enum CodingKeys: String, CodingKey {
        case passwordStatus = "password"
        case factors
        case enrollments = "enroll"
        case recoveryQuestion, recoveryAnswer
        case showsLockout = "lockout_shown"
        case mayUnlock = "unlock"
        case mayRecover = "forgot"
        case profile
    }

    func check(path: String) throws(SandboxError) {
        if (factors ?? []).contains(where: \.script.isEmpty) {
            throw SandboxError(.invalidInput, "\(path): a push needs a script that is not empty")
        }
        if (recoveryQuestion == nil) != (recoveryAnswer == nil) {
            throw SandboxError(.invalidInput, "\(path) needs both recovery_question and recovery_answer, or neither")
        }
    }
}

extension SandboxOktaUser.Factor: SandboxInput, Encodable {
    static let words = ["type": knownTypes]

    private enum CodingKeys: CodingKey {
        case type, provider, name, destination, question, answer, script, number
    }

    /// Reads a factor, or its type alone.
    public init(from decoder: any Decoder) throws {
        if let type = try SandboxOktaUser.typeAlone(decoder) {
            self.init(type)
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(try container.decode(String.self, forKey: .type))
        provider = try container.decodeIfPresent(String.self, forKey: .provider) ?? provider
        name = try container.decodeIfPresent(String.self, forKey: .name)
        destination = try container.decodeIfPresent(String.self, forKey: .destination)
        question = try container.decodeIfPresent(String.self, forKey: .question) ?? question
        answer = try container.decodeIfPresent(String.self, forKey: .answer) ?? answer
        script = try container.decodeIfPresent([String].self, forKey: .script) ?? script
        number = try container.decodeIfPresent(String.self, forKey: .number)
    }
}

extension SandboxOktaUser.Enrollment: SandboxInput, Encodable {
    static let words = ["type": SandboxOktaUser.Factor.knownTypes, "enrollment": ["REQUIRED", "OPTIONAL"]]

    private enum CodingKeys: CodingKey {
        case type, enrollment
    }

    /// Reads an enrollment, or its type alone.
    public init(from decoder: any Decoder) throws {
        if let type = try SandboxOktaUser.typeAlone(decoder) {
            self.init(type)
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let enrollment = try container.decodeIfPresent(String.self, forKey: .enrollment)
        self.init(try container.decode(String.self, forKey: .type), isRequired: enrollment != "OPTIONAL")
    }

    /// Writes the type, and whether it has to be done.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type, forKey: .type)
        try container.encode(isRequired ? "REQUIRED" : "OPTIONAL", forKey: .enrollment)
    }
}

extension SandboxOktaUser {
    /// A type that stands for the whole; nil for an object.
    fileprivate static func typeAlone(_ decoder: any Decoder) throws -> String? {
        guard var place = (decoder as? JSONDecoding)?.place, place.value.string != nil else { return nil }
        place.key = "type"
        return try place.read(String.self)
    }
}

extension SandboxUser {
    /// `okta`: what this person has at Okta.
    public var okta: SandboxOktaUser {
        get { parts[SandboxOktaUser.self] }
        set { parts[SandboxOktaUser.self] = newValue }
    }
}
