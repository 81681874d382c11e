import HTTPRecovery

/// A form that an answer of the identity engine offers, or an action of one of the answer's objects.
struct OktaForm: Sendable {
    /// One field.
    struct Field: Sendable {
        var name: String
        var label: String?
        var type: String
        var isRequired: Bool
        var isSecret: Bool
        var isVisible: Bool
        var isMutable: Bool
        /// What is given, and sent back as it came.
        var value: JSONValue?
        /// The fields of an object.
        var fields: [Field]
        /// What can be chosen from.
        var options: [Option]

        /// Whether somebody has to fill it in; a yes that is wanted is not given by the no that stands there.
        var isOpen: Bool {
            isMutable && isVisible && (value == nil || value == "" || isBoolean && value == false) && fields.isEmpty
                && name != "stateHandle"
        }

        /// Whether it is answered with yes or no.
        var isBoolean: Bool { type == "boolean" }

        /// The options that are values by themselves.
        var choices: [Option] { options.filter { $0.value?.isNull == false } }

        /// The value that a text stands for: of several options that of the one that it names, by its value or its label; nil if
        /// it stands for none that the field takes.
        func value(of text: String) -> JSONValue? {
            if !choices.isEmpty { return choice(text)?.value }
            if isBoolean { return OktaForm.truth(text).map { .bool($0) } }
            guard type == "integer" || type == "number" else { return .string(text) }
            let number = try? JSONValue(parsing: String(text.trimming(\.isWhitespace)))
            guard let digits = number?.number, type == "number" || Int64(digits.text) != nil else { return nil }
            return number
        }

        private func choice(_ text: String) -> Option? {
            let word = String(text.trimming(\.isWhitespace))
            return choices.first { $0.name == word } ?? choices.first { $0.label == word }
                ?? choices.first { [$0.name, $0.label].contains { $0?.lowercased() == word.lowercased() } }
        }
    }

    /// One of several values.
    struct Option: Sendable {
        var label: String?
        /// The value, if it is no object.
        var value: JSONValue?
        /// The fields of an object.
        var fields: [Field]
        /// Where the answer says more of it: a path from the answer's top.
        var relation: String?

        /// The value as it is typed.
        var name: String? { value.map { $0.string ?? $0.description } }

        /// A field of the object.
        func field(_ name: String) -> Field? { fields.first { $0.name == name } }
    }

    var name: String
    var href: String
    /// The media type of its body.
    var accepts: String
    var fields: [Field]
    /// The pause that the server asks for between two of them.
    var refresh: Duration?
    /// What it tells beside its fields, such as where somebody signs in.
    var information: [String]
    /// Whether it is a link for a browser in place of a form.
    var isLink: Bool

    /// Reads a form; nil if it leads nowhere.
    init?(_ json: JSONValue) {
        guard let name = json["name"]?.string?.nonEmpty, let href = json["href"]?.string?.nonEmpty else { return nil }
        self.name = name.bounded(to: 256)
        self.href = href
        accepts = json["accepts"]?.string?.nonEmpty?.bounded(to: 256) ?? "application/json; okta-version=1.0.0"
        fields = Self.fields(json["value"], depth: 0)
        refresh = json["refresh"]?.lenientNumber.map { max(.zero, min($0.seconds / 1000, .seconds(600))) }
        information = (json["requestInfo"]?.array ?? []).prefix(16).compactMap { entry in
            guard let value = entry["value"]?.string?.nonEmpty?.bounded(to: 256) else { return nil }
            return (entry["label"]?.string?.bounded(to: 256)).map { "\($0): \(value)" } ?? value
        }
        isLink = json["rel"] == nil && json["method"]?.string?.uppercased() == "GET"
    }

    private static func fields(_ json: JSONValue?, depth: Int) -> [Field] {
        guard depth < 6 else { return [] }
        return (json?.array ?? []).prefix(64).compactMap { entry in
            guard let name = entry["name"]?.string?.nonEmpty?.bounded(to: 256) else { return nil }
            let value = entry["value"].flatMap { $0.isNull || $0["form"] != nil ? nil : $0 }
            let nested = entry["form"] ?? entry["value"]?["form"]
            return Field(
                name: name,
                label: entry["label"]?.string?.nonEmpty?.bounded(to: 1024),
                type: entry["type"]?.string?.bounded(to: 64) ?? "string",
                isRequired: entry["required"]?.bool ?? false,
                isSecret: entry["secret"]?.bool ?? false,
                isVisible: entry["visible"]?.bool ?? true,
                isMutable: entry["mutable"]?.bool ?? true,
                value: value,
                fields: fields(nested?["value"], depth: depth + 1),
                options: (entry["options"]?.array ?? []).prefix(64).map { option($0, depth: depth + 1) }
            )
        }
    }

    private static func option(_ json: JSONValue, depth: Int) -> Option {
        let form = json["value"]?["form"] ?? json["form"]
        let relation = json["relatesTo"]?.string ?? json["relatesTo"]?.array?.first?.string
        return Option(
            label: json["label"]?.string?.nonEmpty?.bounded(to: 1024),
            value: form == nil ? json["value"] : nil,
            fields: fields(form?["value"], depth: depth),
            relation: relation?.bounded(to: 256)
        )
    }

    /// The field at a path such as `credentials.passcode`; nil if there is none.
    subscript(path: String) -> Field? {
        var fields = self.fields
        var found: Field?
        for name in path.split(separator: ".") {
            guard let field = fields.first(where: { $0.name == name }) else { return nil }
            found = field
            fields = field.fields
        }
        return found
    }

    /// The paths of the fields that somebody has to fill in; those that need not be are left out.
    var openPaths: [String] { openPaths(withOptional: false) }

    /// The paths of the fields that somebody can fill in.
    ///
    /// - Parameter withOptional: Whether those are among them that need not be.
    func openPaths(withOptional: Bool) -> [String] { Self.open(fields, under: "", withOptional) }

    private static func open(_ fields: [Field], under path: String, _ withOptional: Bool) -> [String] {
        fields.flatMap { field in
            let place = path.isEmpty ? field.name : "\(path).\(field.name)"
            if !field.fields.isEmpty { return open(field.fields, under: place, withOptional) }
            return field.isOpen && (field.isRequired || withOptional) ? [place] : []
        }
    }

    /// Whether a text says yes or no; nil if it says neither.
    static func truth(_ text: String) -> Bool? {
        let word = text.trimming(\.isWhitespace).lowercased()
        if ["yes", "y", "true", "allow", "1"].contains(word) { return true }
        return ["no", "n", "false", "deny", "0"].contains(word) ? false : nil
    }

    // MARK: Filling in

    /// The body: exactly the form's fields, those that are given as they came.
    ///
    /// - Parameters:
    ///   - values: What is filled in, by the paths.
    ///   - choices: Which options are taken, by the paths.
    func body(_ values: [String: JSONValue], choosing choices: [String: Int] = [:]) -> JSONValue {
        var members = Self.members(fields, under: "", values, choices)
        // Every step proves the flow, whether its form says so or not.
        if let handle = values["stateHandle"], !members.contains(where: { $0.key == "stateHandle" }) {
            members.append(JSONValue.Member("stateHandle", handle))
        }
        return .object(members)
    }

    private static func members(
        _ fields: [Field],
        under path: String,
        _ values: [String: JSONValue],
        _ choices: [String: Int]
    ) -> [JSONValue.Member] {
        fields.compactMap { field in
            let place = path.isEmpty ? field.name : "\(path).\(field.name)"
            if let value = values[place] { return JSONValue.Member(field.name, value) }
            var inner = field.fields
            if let index = choices[place], field.options.indices.contains(index) {
                let option = field.options[index]
                if let value = option.value { return JSONValue.Member(field.name, value) }
                inner = option.fields
            }
            guard inner.isEmpty else {
                let members = members(inner, under: place, values, choices)
                return members.isEmpty ? nil : JSONValue.Member(field.name, .object(members))
            }
            return field.value.map { JSONValue.Member(field.name, $0) }
        }
    }
}
