import HTTPRecovery

/// The messages of the identity engine's answers: `messages` holds ION objects with a text for the person and a key.
struct OktaMessages {
    /// One message.
    struct Message {
        var key: String?
        var text: String?
        /// `ERROR`, `INFO` or another word.
        var severity: String?
        /// The field that it hangs on, as a path such as `credentials.passcode`.
        var field: String?

        /// The error code that the key names, such as that of `errors.E0000004`.
        var code: String? {
            guard let last = key?.split(separator: ".").last.map(String.init), OktaEnvelope.isCode(last) else {
                return nil
            }
            return last.uppercased()
        }

        /// Whether it says that something has gone wrong.
        var isError: Bool { severity == "ERROR" }

        init?(_ entry: JSONValue, field: String?) {
            key = entry["i18n"]?["key"]?.string?.nonEmpty?.bounded(to: 256)
            text = entry["message"]?.string?.nonEmpty?.bounded(to: 4096)
            severity = entry["class"]?.string?.uppercased().bounded(to: 32)
            self.field = field
            if key == nil, text == nil { return nil }
        }
    }

    /// All of them: those of the answer first, then those of its fields.
    private(set) var all: [Message] = []

    /// Reads a body; nil if it has no messages.
    init?(_ body: JSONValue) {
        collect(body, field: nil)
        for form in (body["remediation"]?["value"]?.array ?? []).prefix(32) {
            collect(form, field: nil)
            collect(fields: form["value"], in: nil, depth: 0)
        }
        if all.isEmpty { return nil }
    }

    private mutating func collect(_ value: JSONValue, field: String?) {
        guard let messages = value["messages"] else { return }
        for entry in (messages["value"]?.array ?? messages.array ?? []).prefix(16) where all.count < 32 {
            if let message = Message(entry, field: field) { all.append(message) }
        }
    }

    /// A form holds fields, a field may hold a form or offer several, and each may have messages of its own.
    private mutating func collect(fields: JSONValue?, in path: String?, depth: Int) {
        guard depth < 8, all.count < 32 else { return }
        for field in (fields?.array ?? []).prefix(64) {
            let name = field["name"]?.string?.bounded(to: 256)
            let place = name.map { name in path.map { "\($0).\(name)" } ?? name } ?? path
            collect(field, field: place)
            collect(fields: field["form"]?["value"], in: place, depth: depth + 1)
            for option in (field["options"]?.array ?? []).prefix(32) {
                collect(option, field: place)
                collect(fields: (option["value"]?["form"] ?? option["form"])?["value"], in: place, depth: depth + 1)
            }
        }
    }
}
