import AuthSandbox
import Testing

/// A session at the terminal as a document shows it: commands behind `$ `, and what stands on the screen below them.
///
/// `…` stands for any text. Of what a program shows and takes away again, such as a countdown, a document may show some
/// of it. What is typed stands behind its question; what is hidden while it is typed stands in a comment before the
/// block, `<!-- typed: one, two -->`. `^C` is an interruption.
struct DocumentedSession: Sendable {
    struct Command: Sendable {
        var line: String
        var screen: [String]
    }

    /// The blocks of a document, one after the other.
    var commands: [Command] = []
    /// What is typed without being shown, in order.
    var hidden: [String] = []

    /// Reads the blocks that are marked as `console`.
    init(document: String) {
        var isInside = false
        for line in document.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("<!-- typed: "), let end = line.firstRange(of: " -->") {
                let words = line[line.index(line.startIndex, offsetBy: 12)..<end.lowerBound]
                hidden += words.split(separator: ",").map { String($0.drop { $0 == " " }) }
            } else if line.hasPrefix("```") {
                isInside = line == "```console"
            } else if isInside, line.hasPrefix("$ ") {
                commands.append(Command(line: String(line.dropFirst(2)), screen: []))
            } else if isInside, !commands.isEmpty {
                let last = commands.count - 1
                // A command may go on in the next line, as for a shell.
                if commands[last].screen.isEmpty, commands[last].line.hasSuffix("\\") {
                    commands[last].line.removeLast()
                    commands[last].line += line
                } else {
                    commands[last].screen.append(line)
                }
            }
        }
    }

    /// The address that documents use.
    private static let address = "http://127.0.0.1:8080"

    /// Runs all commands in order against a sandbox, and compares what each shows with what the document says.
    func replay(with sandbox: AuthSandbox, in directory: String) async throws {
        var hidden = hidden[...]
        var status: Int32 = 0
        for command in commands {
            if command.line.hasPrefix("auth-sandbox ") { continue }
            if command.line == "echo $?" {
                #expect(command.screen == ["\(status)"])
                continue
            }
            let program = try TerminalProgram(
                "/bin/sh",
                // The shell outlives Ctrl-C, as one does that a person types to.
                ["-c", "trap : INT; " + command.line.replacing(Self.address, with: sandbox.url)],
                in: directory,
                environment: [
                    "PATH": BuiltProgram.products + ":/usr/local/bin:/usr/bin:/bin", "TERM": "xterm", "NO_COLOR": "1",
                ],
                showsOutput: true
            )
            try await converse(with: program, about: command, &hidden)
            status = await program.end().status
            let shown = Self.lines(of: program.screen.replacing(sandbox.url, with: Self.address))
            var rest = shown[...]
            for line in command.screen where line != "^C" {
                guard let index = rest.firstIndex(where: { Self.matches($0, line) }) else {
                    Issue.record("`\(command.line)` does not show\n\(line)\nbut\n\(shown.joined(separator: "\n"))")
                    break
                }
                rest = rest[(index + 1)...]
            }
        }
        #expect(hidden.isEmpty, "not everything was asked for: \(hidden)")
    }

    /// Types what the document says, each behind its question.
    private func converse(
        with program: TerminalProgram,
        about command: Command,
        _ hidden: inout ArraySlice<String>
    ) async throws {
        var answered = 0
        var seen = ""
        for line in command.screen {
            if line == "^C" {
                // The line before it is what the person has seen.
                try await Self.wait(for: seen, on: program) { lines in
                    lines.contains { Self.matches($0, seen) }
                }
                program.interrupt()
            } else if let question = Self.question(in: line) {
                try await Self.wait(for: question.text, behind: &answered, on: program)
                switch question.answer {
                case "":
                    let typed = hidden.popFirst()
                    program.type(try #require(typed, "nothing is typed for \(line)"))
                case "^C": program.interrupt()
                default: program.type(question.answer)
                }
            }
            seen = line
        }
    }

    /// Waits for a question on the last line of the screen, further down than the one before.
    private static func wait(for text: String, behind answered: inout Int, on program: TerminalProgram) async throws {
        let before = answered
        answered = try await wait(for: text, on: program) { lines in
            guard lines.count > before, let last = lines.last else { return false }
            return matches(last, text + " ") || matches(last, text)
        }
    }

    /// Waits for a fact on the screen, and returns how many lines it has then.
    @discardableResult private static func wait(
        for text: String,
        on program: TerminalProgram,
        until isThere: ([String]) -> Bool
    ) async throws -> Int {
        // What the document promises in vain would be waited for without an end.
        for _ in 0..<12_000 {
            let lines = lines(of: program.screen)
            if isThere(lines) { return lines.count }
            try await Task.sleep(for: .milliseconds(5))
        }
        program.interrupt()
        Issue.record("waited in vain for\n\(text)\nbut\n\(program.screen)")
        throw CancellationError()
    }

    /// The question of a line and what was typed behind it; nil where the line is none.
    private static func question(in line: String) -> (text: String, answer: String)? {
        let openings = [
            "E-mail address, phone number or user name:", "Password:", "Password (", "New password:", "New password (",
            "Code by ", "Code of ",
            "Backup code", "Which one?", "Answer",
        ]
        guard openings.contains(where: { line.hasPrefix($0) }) else { return nil }
        for end in ["]", ":"] {
            guard
                let range = line.ranges(of: end).first(where: { range in
                    range.upperBound == line.endIndex || line[range.upperBound] == " "
                })
            else { continue }
            let answer = line[range.upperBound...].drop { $0 == " " }
            return (String(line[..<range.upperBound]), String(answer))
        }
        return nil
    }

    /// What was ever on the screen, line by line, also what was redrawn.
    private static func lines(of screen: String) -> [String] {
        var lines = [""]
        for scalar in screen.replacing("\u{1B}[K", with: "").unicodeScalars {
            if scalar == "\n" || scalar == "\r" {
                if !(lines.last ?? "").isEmpty { lines.append("") }
            } else {
                lines[lines.count - 1].unicodeScalars.append(scalar)
            }
        }
        return lines
    }

    /// Whether a line is as the document has it, where `…` stands for anything.
    private static func matches(_ line: String, _ pattern: String) -> Bool {
        let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
        guard let first = parts.first, line.hasPrefix(first) else { return false }
        if parts.count == 1 { return line == pattern || line == pattern + " " }
        var rest = line.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(parts[parts.count - 1])
    }
}
