import CommandLineSupport

/// What a command is given: by its arguments, then the environment, then a profile.
struct Settings: Sendable {
    /// The arguments, with what comes from elsewhere in front.
    let arguments: [String]
    /// Where each option comes from that is not on the command line.
    private let sources: [String: String]

    /// Options of which one is of no use beside another.
    private static let rivals: [Set<String>] =
        NetworkOptions.rivals + [
            ["token-file", "no-token-file"], ["state", "state-env"], ["proxy", "proxy-env"], ["quiet", "verbose"],
            ["redirect-uri", "link-page"], ["journey", "auth-index"], ["resume", "auth-index"],
            ["resume", "force-auth"], ["resume", "no-session"], ["resume", "upgrade-session"], ["resume", "zero-page"],
            ["at", "ticket-env"], ["at", "link-page"], ["way", "at"], ["way", "ticket-env"],
            ["recovery-token-env", "activation-token-env"],
        ]

    /// An option from elsewhere.
    private struct Addition {
        var name: String
        var values: [String]
        var isFlag: Bool
        var source: String

        /// Whether it is a flag that is said to be off.
        var isOff: Bool { isFlag && values.last != "true" }
    }

    /// Gathers what is to be parsed.
    ///
    /// - Parameter arguments: What is written on the command line, without the program's name.
    /// - Throws: ``InputError`` about the profile or a variable.
    init(_ arguments: [String]) throws {
        // Where nothing can be added the parser need not tell its options, which takes longer than all else at the start.
        guard arguments.contains(where: { $0.hasPrefix("--profile") }) || Environment.holds(prefix: Self.prefix) else {
            (self.arguments, sources) = (arguments, [:])
            return
        }
        let options = try OptionList(of: AuthClient.self)
        let written = options.written(in: arguments)
        let command = options.positional(in: arguments).first.flatMap { CommandName(rawValue: $0) }
        // What is asked about the program itself, or about profiles, needs none.
        guard command?.needsProvider ?? true, !Self.isForShell(arguments),
            !written.contains(where: { !Self.aboutProgram.isDisjoint(with: $0.option.longNames) })
        else {
            (self.arguments, sources) = (arguments, [:])
            return
        }
        var taken = Set(written.flatMap(\.option.longNames))
        // What is said to be off, or is not for this command, stands in nobody's way.
        var inForce = taken
        var additions: [Addition] = []
        func isFree(_ option: OptionList.Option) -> Bool {
            let names = Set(option.longNames + [options.inverse(of: option)].compactMap(\.self))
            return taken.isDisjoint(with: names)
                && !Self.rivals.contains { !$0.isDisjoint(with: names) && !$0.isDisjoint(with: inForce) }
        }
        func add(_ name: String, _ values: [String], _ option: OptionList.Option, from source: String) {
            var addition = Addition(name: name, values: values, isFlag: option.isFlag, source: source)
            if addition.isOff, let inverse = options.inverse(of: option) {
                (addition.name, addition.values) = (inverse, ["true"])
            }
            if !additions.contains(where: { $0.name == addition.name }) { additions.append(addition) }
        }
        func value(of name: String) -> String? {
            written.last { $0.option.longNames.contains(name) }?.value
                ?? additions.first { $0.name == name }?.values.first
        }
        for option in options.options where isFree(option) {
            guard let name = option.longNames.first, let (variable, text) = Self.variable(of: option) else { continue }
            let value = try Self.value(text, of: option, in: variable)
            add(name, [value], option, from: variable)
        }
        for addition in additions {
            taken.insert(addition.name)
            if !addition.isOff, command?.takes(addition.name, at: nil) != false { inForce.insert(addition.name) }
        }
        if let profileName = value(of: "profile") {
            let profile = try Profile(profileName, options: options)
            for option in options.options where isFree(option) {
                guard let name = option.longNames.first,
                    let values = option.longNames.lazy.compactMap({ profile.values[$0] }).first
                else { continue }
                add(name, values, option, from: "the profile \(profileName)")
            }
        }
        let provider = value(of: "provider").flatMap { ProviderName(rawValue: $0) }
        additions.removeAll { $0.name == "profile" || command?.takes($0.name, at: provider) == false }
        let front = additions.flatMap { addition in
            guard addition.isFlag else { return addition.values.map { "--\(addition.name)=\($0)" } }
            return addition.isOff ? [] : ["--\(addition.name)"]
        }
        self.arguments = front + arguments
        sources = Dictionary(additions.map { ("--\($0.name)", $0.source) }, uniquingKeysWith: { first, _ in first })
    }

    /// Where the options come from that a message is about; nil if they are all on the command line.
    func note(on message: String) -> String? {
        let words = Set(message.split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init))
        let named = sources.filter { words.contains($0.key) }.sorted { $0.key < $1.key }
        return named.isEmpty ? nil : named.map { "  \($0.key) is set by \($0.value)." }.joined(separator: "\n")
    }

    /// What the names of variables begin with.
    private static let prefix = "AUTH_CLIENT_"

    /// The options that ask about the program itself.
    private static let aboutProgram: Set = ["help", "version"]

    /// Whether the shell asks, while somebody types or when it is set up.
    private static func isForShell(_ arguments: [String]) -> Bool {
        let asks = ["--generate-completion-script", "--experimental-dump-help"]
        guard let first = arguments.first else { return false }
        return first.hasPrefix("---") || asks.contains { first == $0 || first.hasPrefix("\($0)=") }
    }

    /// The variable of an option that is set, and its text: `AUTH_CLIENT_` and the long name in capitals, with
    /// underscores for what variables of a shell cannot have.
    private static func variable(of option: OptionList.Option) -> (name: String, text: String)? {
        for name in option.longNames where name != "help" && name != "version" {
            let variable = prefix + name.uppercased().map { $0 == "-" || $0 == "." ? "_" : String($0) }.joined()
            if let text = Environment.text(variable) { return (variable, text) }
        }
        return nil
    }

    private static func value(
        _ text: String,
        of option: OptionList.Option,
        in variable: String
    ) throws(InputError) -> String {
        guard option.isFlag else { return text }
        switch text.lowercased() {
        case "1", "true", "yes", "on": return "true"
        case "0", "false", "no", "off": return "false"
        default: throw InputError("\(variable) takes true or false")
        }
    }
}
