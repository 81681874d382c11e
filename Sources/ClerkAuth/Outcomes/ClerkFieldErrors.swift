public import HTTPRecovery

/// The errors of an answer by the fields that they concern.
enum ClerkFieldErrors {
    fileprivate static let member = "fields"

    /// Writes down what several errors say about the fields of a form; one of them stands in the outcome itself.
    static func add(_ errors: [ClerkError], to outcome: inout Outcome) {
        var texts: [(field: String, text: String)] = []
        for error in errors {
            guard let field = error.parameter, let text = error.longMessage ?? error.message else { continue }
            if let index = texts.firstIndex(where: { $0.field == field }) {
                if !texts[index].text.hasPrefix(text) { texts[index].text += " " + text }
            } else {
                texts.append((field, text))
            }
        }
        guard texts.count > 1 || errors.count > 1 && !texts.isEmpty else { return }
        let fields = JSONValue.Member(member, .object(texts.map { JSONValue.Member($0.field, .string($0.text)) }))
        outcome.details = .object((outcome.details?.members ?? []) + [fields])
    }
}

extension Outcome {
    /// What Clerk says about each field of a form that it has refused, by Clerk's names of the fields, in the words for a
    /// person; empty if it names no field.
    ///
    /// Of several rules that a new password breaks, all are said.
    public var clerkFieldMessages: [String: String] {
        var messages: [String: String] = [:]
        for member in details?[ClerkFieldErrors.member]?.members ?? [] { messages[member.key] = member.value.string }
        if messages.isEmpty, let parameter, let text = userMessage ?? message { messages[parameter] = text }
        return messages
    }
}
