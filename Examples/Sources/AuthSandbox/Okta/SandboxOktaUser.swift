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

    /// Creates somebody with a password that is enough.
    public init() {}

    /// A factor: `{"type": "push", "script": ["WAITING", "SUCCESS"], "number": "42"}`.
    public struct Factor: Sendable, Equatable {
        /// `type`: `push`, `sms`, `call`, `email`, `question`, `token:software:totp` or `webauthn`.
        public var type: String
        /// `provider`.
        ///
        /// Default: `OKTA`, of WebAuthn `FIDO`.
        public var provider: String
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
            provider = type == "webauthn" ? "FIDO" : "OKTA"
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
            ("token:software:totp", "ost"), ("webauthn", "fwf"),
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

extension SandboxOktaUser {
    init(json: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(json, path: path)
        passwordStatus = try reader.word("password", of: ["ok", "warn", "expired", "reset"]) ?? passwordStatus
        if let list = reader.value("factors") {
            guard let elements = list.array else { throw reader.wrong("factors", "a list") }
            var read: [Factor] = []
            for (index, element) in elements.enumerated() {
                read.append(try Factor(json: element, path: "\(path).factors[\(index)]"))
            }
            factors = read
        }
        if let list = reader.value("enroll") {
            guard let elements = list.array else { throw reader.wrong("enroll", "a list") }
            for (index, element) in elements.enumerated() {
                enrollments.append(try Enrollment(json: element, path: "\(path).enroll[\(index)]"))
            }
        }
        recoveryQuestion = try reader.string("recovery_question")
        recoveryAnswer = try reader.string("recovery_answer")
        showsLockout = try reader.bool("lockout_shown")
        mayUnlock = try reader.bool("unlock") ?? true
        mayRecover = try reader.bool("forgot") ?? true
        try reader.finish()
        try check(path: path)
    }

    /// Finds what contradicts itself.
    func check(path: String) throws(SandboxError) {
        for type in (factors ?? []).map(\.type) + enrollments.map(\.type) where !Factor.knownTypes.contains(type) {
            let known = Factor.knownTypes.joined(separator: ", ")
            throw SandboxError(.invalidInput, "\(path): the factor \"\(type)\" is none of \(known)")
        }
        if (factors ?? []).contains(where: \.script.isEmpty) {
            throw SandboxError(.invalidInput, "\(path): a push needs a script that is not empty")
        }
        if (recoveryQuestion == nil) != (recoveryAnswer == nil) {
            throw SandboxError(.invalidInput, "\(path) needs both recovery_question and recovery_answer, or neither")
        }
    }
}

extension SandboxOktaUser.Factor {
    fileprivate init(json: JSONValue, path: String) throws(SandboxError) {
        if let type = json.string {
            self.init(type)
            return
        }
        var reader = try ObjectReader(json, path: path)
        guard let type = try reader.string("type") else { throw SandboxError(.invalidInput, "\(path) needs a type") }
        self.init(type)
        provider = try reader.string("provider") ?? provider
        destination = try reader.string("destination")
        question = try reader.string("question") ?? question
        answer = try reader.string("answer") ?? answer
        script = try reader.strings("script") ?? script
        number = try reader.string("number")
        try reader.finish()
    }
}

extension SandboxOktaUser.Enrollment {
    fileprivate init(json: JSONValue, path: String) throws(SandboxError) {
        if let type = json.string {
            self.init(type)
            return
        }
        var reader = try ObjectReader(json, path: path)
        guard let type = try reader.string("type") else { throw SandboxError(.invalidInput, "\(path) needs a type") }
        self.init(type)
        isRequired = try reader.word("enrollment", of: ["REQUIRED", "OPTIONAL"]) != "OPTIONAL"
        try reader.finish()
    }
}
