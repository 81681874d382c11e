import ArgumentParser
import HTTPRecovery

/// The options that a program has, as its parser tells them, so that no list of them has to be kept.
struct OptionList: Sendable {
    /// An option or a flag.
    struct Option: Sendable, Hashable {
        /// Its names behind two dashes, the first one first.
        var longNames: [String]
        /// Its names behind one dash.
        var shortNames: [String]
        var isFlag: Bool
        var isRepeating: Bool
        /// Whether its value is the path of a file.
        var isPath: Bool

        /// Whether it may stand in a profile.
        var canBeKept: Bool {
            !longNames.isEmpty && !longNames.contains { ["help", "version", "profile"].contains($0) }
        }
    }

    /// An option on a command line.
    struct Written: Sendable {
        var option: Option
        /// Its value; of a flag `true`.
        var value: String
    }

    let options: [Option]

    /// Asks the parser.
    init(of program: (some ParsableArguments).Type) throws {
        let description = try JSONValue(parsing: program._dumpHelp())
        let arguments = description["command"]?["arguments"]?.array ?? []
        options = arguments.compactMap { argument in
            guard let kind = argument["kind"]?.string, kind != "positional" else { return nil }
            func names(_ form: String) -> [String] {
                argument["names"]?.array?.filter { $0["kind"]?.string == form }.compactMap { $0["name"]?.string } ?? []
            }
            return Option(
                longNames: names("long"),
                shortNames: names("short"),
                isFlag: kind == "flag",
                isRepeating: argument["isRepeating"]?.bool ?? false,
                // The shell offers files for it.
                isPath: argument["completionKind"]?["file"] != nil
            )
        }
    }

    /// The option of a long name.
    subscript(long name: String) -> Option? { options.first { $0.longNames.contains(name) } }

    /// The long name of the flag that says the opposite, as `no-x` does of `x`; nil if there is none.
    func inverse(of option: Option) -> String? {
        guard option.isFlag else { return nil }
        return option.longNames.lazy
            .map { $0.hasPrefix("no-") ? String($0.dropFirst("no-".count)) : "no-\($0)" }
            .first { self[long: $0]?.isFlag == true }
    }

    /// The options on a command line, in order.
    func written(in arguments: [String]) -> [Written] { read(arguments).options }

    /// What on a command line is neither an option nor its value, in order.
    func positional(in arguments: [String]) -> [String] { read(arguments).others }

    private func read(_ arguments: [String]) -> (options: [Written], others: [String]) {
        var (found, others): ([Written], [String]) = ([], [])
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" { return (found, others + rest) }
            if argument.hasPrefix("--") {
                let halves = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard let name = halves.first, let option = self[long: String(name)] else { continue }
                if option.isFlag {
                    found.append(Written(option: option, value: "true"))
                } else if let value = halves.count > 1 ? String(halves[1]) : rest.popFirst() {
                    found.append(Written(option: option, value: value))
                }
            } else if argument.hasPrefix("-"), argument != "-" {
                var letters = argument.dropFirst()
                while let letter = letters.popFirst(),
                    let option = options.first(where: { $0.shortNames.contains(String(letter)) })
                {
                    guard !option.isFlag else {
                        found.append(Written(option: option, value: "true"))
                        continue
                    }
                    if let value = letters.isEmpty ? rest.popFirst() : String(letters) {
                        found.append(Written(option: option, value: value))
                    }
                    break
                }
            } else {
                others.append(argument)
            }
        }
        return (found, others)
    }
}
