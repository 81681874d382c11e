import ArgumentParser
import AuthRecovery
import CommandLineSupport
import HTTPRecovery

/// Decides recorded calls again and says where a decision differs.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http-recover replay",
        abstract: "Decides again what --record has written, without sending anything.",
        discussion: """
            Each event is shown with the decision that followed it. Where a decision differs today, the recorded one is \
            shown beside it.

            EXIT STATUS
              0    every decision is the same
              1    one differs
              64   the program was called wrongly
              65   the file cannot be read, or is no recording
            """
    )

    /// What tells the command from a request, as the first argument.
    static let name = "replay"

    @Argument(help: ArgumentHelp("What --record has written.", valueName: "FILE"), completion: .file())
    var file: String

    @Flag(name: .shortAndLong, help: "Tells only of decisions that differ.")
    var quiet = false

    /// Replays the file.
    func replay(on terminal: Terminal, output: StandardOutput) throws -> ExitStatus {
        let lines = try LineFile.read(file)
        guard !lines.isEmpty else { return noRecording("holds no recording", terminal) }
        let tokens = TokenManager(store: InMemoryTokenStore())
        var differences = 0
        for (number, line) in lines.enumerated() {
            guard let line, let recording = line["recording"].flatMap({ CallRecording($0) }),
                let choice = line["policies"].flatMap({ PolicyChoice($0) })
            else { return noRecording("holds no recording in line \(number + 1)", terminal) }
            let replay = Recovery.replay(recording, policies: choice.policies(tokens))
            if replay.difference != nil { differences += 1 }
            try show(replay, of: recording, output)
        }
        if differences > 0 {
            terminal.write("http-recover: \(differences) of \(lines.count) calls are decided otherwise")
        }
        return differences == 0 ? .success : .differs
    }

    private func noRecording(_ what: String, _ terminal: Terminal) -> ExitStatus {
        terminal.write("http-recover: \(file, limit: 500) \(what)")
        return .badInput
    }

    private func show(_ replay: CallRecording.Replay, of recording: CallRecording, _ output: StandardOutput) throws {
        if quiet, replay.difference == nil { return }
        let title: ScreenText = "call \(recording.call): \(recording.method, limit: 40)"
        let wait = HumanTime.text(recording.maxWait)
        try output.write("\(title), at most \(recording.maxAttempts) attempts, no wait above \(wait)")
        for step in replay.steps {
            let isSame = step.recorded == step.decided
            if quiet, isSame { continue }
            let event = ReplayText.words(of: step.event)
            let pad = String(repeating: " ", count: max(1, 36 - event.count))
            let decided = ReplayText.rounded(step.decided)
            let line: ScreenText = "  \(event, limit: 200)\(pad)-> \(decided, limit: 200)"
            let before = ReplayText.rounded(step.recorded)
            try output.write(isSame ? line : "\(line)   (was: \(before, limit: 200))")
        }
    }
}

/// Recorded events and decisions in the words of a person.
enum ReplayText {
    /// What has happened.
    static func words(of event: JSONValue) -> String {
        var words = [event["event"]?.string?.replacing("_", with: " ") ?? "?"]
        if let outcome = event["outcome"] {
            words.append(outcome["kind"]?.string ?? "?")
            if let status = outcome["status"]?.number?.text { words.append("(\(status))") }
            if let transport = outcome["transport"]?.string { words.append("(\(transport))") }
        }
        for key in ["reason", "obstacle", "name", "repeating"] {
            if let text = event[key]?.string { words.append(text) }
        }
        if let behind = event["behind"]?.number?.text { words.append("behind \(behind)") }
        return words.joined(separator: " ")
    }

    /// A decision, its times to the millisecond.
    static func rounded(_ words: String) -> String {
        words.split(separator: " ").map { word -> Substring in
            guard word.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }),
                let dot = word.utf8.firstIndex(of: UInt8(ascii: "."))
            else { return word }
            let end = word.utf8.index(dot, offsetBy: 4, limitedBy: word.endIndex) ?? word.endIndex
            return word[..<end]
        }
        .joined(separator: " ")
    }
}
