public import AuthRecovery
public import HTTPRecovery

/// One step of a journey: what the server wants answered before it goes on.
///
/// The whole object is kept as it came, so that members and callbacks which this version does not know go back
/// untouched.
public struct JourneyStep: Sendable, Hashable {
    /// The proof of this step, good for one answer; nil if there is nothing to answer, as in a suspended journey.
    public var authID: Secret?
    /// The name that the journey's author gave the step.
    public var stage: String?
    /// The heading to show.
    public var header: String?
    /// The text to show.
    public var text: String?
    /// What is to be answered or shown, in order.
    public var callbacks: [JourneyCallback]

    private var members: [JSONValue.Member]

    /// Reads a step.
    ///
    /// - Returns: Nil if the value is none: it has neither an `authId` nor callbacks, or they are malformed, so that
    ///   what is sent back would not be what came.
    public init?(_ value: JSONValue) {
        guard case .object(let members) = value, Self.isWhole(value) else { return nil }
        let callbacks = value["callbacks"]?.array
        authID = value["authId"]?.string?.nonEmpty.map { Secret($0) }
        guard authID != nil || callbacks?.isEmpty == false, value["failure"]?.bool != true else { return nil }
        stage = value["stage"]?.string?.nonEmpty
        header = value["header"]?.string?.nonEmpty
        text = value["description"]?.string?.nonEmpty
        self.callbacks = (callbacks ?? []).map { JourneyCallback($0) }
        self.members = members
    }

    /// More callbacks than any step has.
    private static let maximumCallbacks = 256

    /// Whether proof and callbacks are of the form that a step has, so that they can be answered.
    private static func isWhole(_ value: JSONValue) -> Bool {
        if let proof = value["authId"], !proof.isNull, proof.string == nil { return false }
        guard let callbacks = value["callbacks"], !callbacks.isNull else { return true }
        guard let elements = callbacks.array, elements.count <= maximumCallbacks else { return false }
        return elements.allSatisfy { element in
            guard element.members != nil else { return false }
            guard let inputs = element["input"], !inputs.isNull else { return true }
            return inputs.array?.allSatisfy { $0.members != nil } ?? false
        }
    }

    /// The step with its answers, as it is sent back.
    public var json: JSONValue {
        .object(
            members.map { member in
                switch member.key {
                case "callbacks": JSONValue.Member("callbacks", .array(callbacks.map(\.json)))
                case "authId": JSONValue.Member("authId", authID.map { .string($0.reveal()) } ?? .null)
                default: member
                }
            }
        )
    }

    /// The first callback for which the function finds something.
    func first<Found>(_ find: (JourneyCallback) -> Found?) -> Found? {
        callbacks.lazy.compactMap(find).first
    }
}

extension JourneyStep: Redacted {
    /// The stage and the types of the callbacks; no answer and no proof.
    public var description: String {
        let types = callbacks.map { $0.type.loggable ?? "other" }.joined(separator: ", ")
        return "JourneyStep(\(stage?.loggable.map { "\($0): " } ?? "")\(types))"
    }
}
