package import HTTPTypes

extension HTTPFields {
    /// The values of all lines of a field, by its name in lower case.
    ///
    /// Joining lines with commas, as the subscript does, is wrong for fields that are not lists; a date has a comma of
    /// its own.
    package func lines(_ canonicalName: String) -> [String] {
        compactMap { $0.name.canonicalName == canonicalName ? $0.value : nil }
    }

    /// The value of a field that must stand on one line; nil if it is absent or if its lines disagree.
    package func singleLine(_ canonicalName: String) -> String? {
        // Without an array, and without a copy of each field: it is asked of every answer.
        var found: String?
        for index in indices where self[index].name.canonicalName == canonicalName {
            let value = self[index].value
            if let found, found != value { return nil }
            found = value
        }
        return found
    }
}
