import ArgumentParser

/// Options that were given where they have no place.
enum Misplaced {
    /// Refuses what was given of some options: each by its name, and none that was not.
    ///
    /// - Parameters:
    ///   - options: Their names, and whether they were given.
    ///   - owner: Where they belong.
    static func refuse(_ options: KeyValuePairs<String, Bool>, belongingTo owner: String) throws {
        try refuse(options, ("belongs to", "belong to"), owner)
    }

    /// The same for options that mean nothing without another one.
    static func refuse(_ options: KeyValuePairs<String, Bool>, needing other: String) throws {
        try refuse(options, ("needs", "need"), other)
    }

    private static func refuse(
        _ options: KeyValuePairs<String, Bool>,
        _ verb: (one: String, several: String),
        _ rest: String
    ) throws {
        let given = options.filter(\.value).map(\.key)
        guard !given.isEmpty else { return }
        throw ValidationError("\(list(given)) \(given.count == 1 ? verb.one : verb.several) \(rest).")
    }

    /// Names as a sentence has them: `a, b and c`.
    static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.joined() }
        return "\(names.dropLast().joined(separator: ", ")) and \(last)"
    }
}
