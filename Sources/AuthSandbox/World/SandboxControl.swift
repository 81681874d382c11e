import HTTPRecovery

/// An endpoint under `/_sandbox/`: what a test or a demo does behind the client's back.
struct SandboxControl: Sendable {
    /// The method and the path below `/_sandbox/`, such as `POST oauth/issue`.
    let name: String
    /// The query and a line for people, as `GET /_sandbox/` shows them.
    let query: String
    let help: String
    /// Whether it is there where nobody but an upstream answers.
    var isForUpstream = false
    let answer: @Sendable (inout SandboxWorld, SandboxRequest) throws(SandboxError) -> JSONValue

    init(
        _ name: String,
        query: String = "",
        _ help: String,
        isForUpstream: Bool = false,
        answer: @escaping @Sendable (inout SandboxWorld, SandboxRequest) throws(SandboxError) -> JSONValue
    ) {
        self.name = name
        self.query = query
        self.help = help
        self.isForUpstream = isForUpstream
        self.answer = answer
    }

    /// One that reads its body.
    ///
    /// - Parameters:
    ///   - name: The method and the path.
    ///   - input: What the body has to be.
    ///   - help: A line for people.
    ///   - answer: What it does with what the body says.
    static func reading<Input: SandboxInput>(
        _ name: String,
        _ input: Input.Type,
        _ help: String,
        isForUpstream: Bool = false,
        answer: @escaping @Sendable (inout SandboxWorld, Input) throws(SandboxError) -> JSONValue
    ) -> SandboxControl {
        SandboxControl(name, help, isForUpstream: isForUpstream) { world, request throws(SandboxError) in
            try answer(&world, request.controlBody().read(path: "body"))
        }
    }

    /// The name in the list of what there is.
    var title: String { name.replacing(" ", with: " /_sandbox/", maxReplacements: 1) + query }
}

extension ProviderWorld {
    /// A control endpoint of this provider, which reads its body.
    ///
    /// - Parameters:
    ///   - name: The method and the path, which begins with the provider's name.
    ///   - input: What the body has to be.
    ///   - help: A line for people.
    ///   - answer: What it does to the provider with what the body says.
    static func control<Input: SandboxInput>(
        _ name: String,
        _ input: Input.Type,
        _ help: String,
        answer: @escaping @Sendable (inout Self, Input, inout SandboxContext) throws(SandboxError) -> JSONValue
    ) -> SandboxControl {
        .reading(name, input, help) { world, input throws(SandboxError) in
            try world.with(Self.self) { provider, context throws(SandboxError) in try answer(&provider, input, &context)
            }
        }
    }
}

extension ProviderWorld {
    /// A control endpoint of this provider that shows something.
    ///
    /// - Parameters:
    ///   - name: The method and the path, which begins with the provider's name.
    ///   - help: A line for people.
    ///   - answer: What it shows.
    static func view(
        _ name: String,
        _ help: String,
        answer: @escaping @Sendable (Self, SandboxContext) -> JSONValue
    ) -> SandboxControl {
        SandboxControl(name, help) { world, _ in answer(world[Self.self], world.context) }
    }
}

extension SandboxRequest {
    /// The body of a control request; an empty one is an empty object.
    func controlBody() throws(SandboxError) -> JSONValue {
        body.isEmpty ? [:] : try JSONValue(document: body, what: "the body is not JSON")
    }
}

/// What a control request says that names a person.
struct NamedUser: SandboxInput {
    var user: String
}

/// What a control request says that may name a person.
struct MaybeUser: SandboxInput {
    var user: String?
}

/// Whom to lock: for a time, or with `null` until somebody unlocks.
struct LockOrder: SandboxInput {
    let user: String
    private let seconds: Seconds?

    private enum CodingKeys: CodingKey {
        case user, seconds
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        user = try container.decode(String.self, forKey: .user)
        seconds = try container.decodeNil(forKey: .seconds) ? nil : container.decode(Seconds.self, forKey: .seconds)
    }

    func lock(now: Int64) -> SandboxLock { seconds.map { .until(now + $0.milliseconds) } ?? .indefinite }
}
