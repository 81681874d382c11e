/// Why a sandbox could not be started or told something.
public struct SandboxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of trouble.
    public struct Code: Sendable, Hashable {
        private let name: String

        /// The address is taken or is not an address.
        public static let cannotListen = Code(name: "cannot_listen")
        /// The name of an upstream cannot be looked up.
        public static let cannotResolve = Code(name: "cannot_resolve")
        /// A scenario, a fault, an upstream's URL or a control request is not what it should be.
        public static let invalidInput = Code(name: "invalid_input")
    }

    /// The kind of trouble.
    public let code: Code
    /// A sentence for the person who has to mend it.
    public let message: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of trouble.
    ///   - message: A sentence for the person who has to mend it.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
