#if Redis
/// What is asked of the server: words, binary safe.
struct Command: Sendable {
    /// The words that go out.
    var words: [[UInt8]]

    /// The script that the words name by its digest.
    var script: Script?

    /// The part that its keys belong to; nil if it has none, or keys of several parts.
    var part: UInt8?

    /// Whether a server that is about to get the keys from another is asked for them already.
    var isAsking = false

    /// What takes back the effect of this command if its caller does not learn of it, and until when that matters.
    var amends: Amends?

    /// A command that takes back another.
    struct Amends: Sendable {
        var words: [[UInt8]]
        /// How long after the command it is of use.
        var lifetime: Duration
    }

    init(_ words: String...) {
        self.words = words.map { Array($0.utf8) }
    }

    init(_ word: String, _ key: Keys.Key, _ others: String...) {
        self.words = ([word, key.name] + others).map { Array($0.utf8) }
        self.part = key.part
    }

    init(_ script: Script, keys: [Keys.Key], arguments: [[UInt8]] = []) {
        let count = Array(String(keys.count).utf8)
        self.words = [Array("EVALSHA".utf8), script.digest, count] + keys.map { Array($0.name.utf8) } + arguments
        self.script = script
        if let part = keys.first?.part, keys.allSatisfy({ $0.part == part }) { self.part = part }
    }

    init(_ amends: Amends) {
        self.words = amends.words
    }

    /// The same with the script's text in place of its digest; nil if it is no script.
    var inFull: Command? {
        guard let script, words.count > 2 else { return nil }
        var copy = self
        copy.words[0] = Array("EVAL".utf8)
        copy.words[1] = script.text
        copy.script = nil
        return copy
    }

    /// Takes the command back if nobody learns of its effect.
    func amended(by script: Script, keys: [Keys.Key], arguments: [[UInt8]], for lifetime: Duration) -> Command {
        var copy = self
        // In full: if the connection is lost, nobody hears that the server does not know the script.
        let command = Command(script, keys: keys, arguments: arguments)
        copy.amends = Amends(words: (command.inFull ?? command).words, lifetime: lifetime)
        return copy
    }

    /// The bytes of all words.
    var size: Int { words.reduce(0) { $0 + $1.count } }
}
#endif
