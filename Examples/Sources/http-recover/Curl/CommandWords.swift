import ArgumentParser
import CommandLineSupport
import HTTPRecovery

/// The words of the command line, read by curl's rules.
///
/// Short options may stand together (`-sSfL`) and with their value (`-XPOST`), values may begin with a dash, and the order
/// of different options counts, as of those that a body is put together from. What curl knows and this program does not
/// do is refused by name. A `--url` is an argument like those without it.
struct CommandWords: Sendable {
    /// An option as it was written.
    struct Option: Sendable, Hashable {
        /// Its long name, with the dashes.
        let name: String
        /// What stands behind it; nil for one that takes nothing.
        let value: String?
    }

    /// The options in their order.
    private(set) var options: [Option] = []
    /// The same for the parser: long names, each in one word with its value.
    private(set) var arguments: [String] = []

    private let known: [String: Known]

    private struct Known {
        let longName: String
        let takesValue: Bool
    }

    /// Reads the words of a command.
    ///
    /// - Throws: ``InvalidOption`` for an option of curl's that cannot be kept.
    init(_ words: some Sequence<String>, of command: (some ParsableCommand).Type) throws(InvalidOption) {
        // What the parser knows takes milliseconds to ask for.
        known = words.contains { $0.hasPrefix("-") } ? Self.names(of: command) : [:]
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if word == "--" {
                arguments += [word] + rest
                break
            } else if word.hasPrefix("--") {
                try take(long: word, &rest)
            } else if word.hasPrefix("-"), word.utf8.count > 1 {
                try take(short: word.dropFirst(), &rest)
            } else {
                arguments.append(word)
            }
        }
    }

    /// The values of some options in the order in which they were written.
    func values(of names: Set<String>) -> [(name: String, value: String)] {
        options.compactMap { option in
            names.contains(option.name) ? option.value.map { (option.name, $0) } : nil
        }
    }

    private mutating func take(long word: String, _ rest: inout ArraySlice<String>) throws(InvalidOption) {
        let equals = word.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = String(word[..<(equals ?? word.endIndex)])
        guard let option = known[name] else {
            if let refusal = RefusedOptions.refusal(of: name) { throw refusal }
            arguments.append(word)
            return
        }
        let value = equals.map { String(word[word.utf8.index(after: $0)...]) }
        try add(option, option.takesValue ? value ?? rest.popFirst() : value)
    }

    private mutating func take(short letters: Substring, _ rest: inout ArraySlice<String>) throws(InvalidOption) {
        var letters = letters
        while let letter = letters.popFirst() {
            guard let option = known["-\(letter)"] else {
                if let refusal = RefusedOptions.refusal(of: "-\(letter)") { throw refusal }
                arguments.append("-\(letter)\(letters)")
                return
            }
            guard option.takesValue else {
                try add(option, nil)
                continue
            }
            try add(option, letters.isEmpty ? rest.popFirst() : String(letters))
            return
        }
    }

    private mutating func add(_ option: Known, _ value: String?) throws(InvalidOption) {
        if option.longName == "--url", let value {
            // It is no option, whatever it begins with.
            guard !value.hasPrefix("-") else { throw InvalidOption("--url: write a URL") }
            return arguments.append(value)
        }
        options.append(Option(name: option.longName, value: value))
        // In one word a value may begin with a dash; an empty one stands alone.
        switch value {
        case nil: arguments.append(option.longName)
        case "": arguments += [option.longName, ""]
        case let value?: arguments.append("\(option.longName)=\(value)")
        }
    }

    /// What each name means, as the parser knows it.
    private static func names(of command: (some ParsableCommand).Type) -> [String: Known] {
        guard let description = try? JSONValue(parsing: command._dumpHelp()) else { return [:] }
        // The parser has this one by itself, and by its long name alone.
        var known = ["-V": Known(longName: "--version", takesValue: false)]
        for argument in description["command"]?["arguments"]?.array ?? [] {
            let names = argument["names"]?.array ?? []
            let written = names.compactMap { name in
                name["name"]?.string.map { name["kind"]?.string == "short" ? "-\($0)" : "--\($0)" }
            }
            guard let long = written.first(where: { $0.hasPrefix("--") }) else { continue }
            let option = Known(longName: long, takesValue: argument["kind"]?.string == "option")
            for name in written { known[name] = option }
        }
        return known
    }
}
