import AuthRecovery
import CommandLineSupport
import HTTPRecovery
import Locking

/// Answers that were prepared in a file, each of which is given once.
///
/// The file is a JSON object by answer key; an array is taken in order, a text is an array of one.
final class AnswerFile: Sendable {
    private let answers: Locked<[Factor.Key: [Secret]]>
    /// The proofs in whose place another was tried.
    private let replaced = Locked<Set<Factor.Key>>([])
    /// What the last question offered that did not have the next choice among it.
    private let passedBy = Locked<[String]?>(nil)

    /// No answers.
    init() {
        answers = Locked([:])
    }

    /// Reads the file's text.
    ///
    /// - Throws: ``InputError`` when it is not such an object.
    init(text: [UInt8], name: String) throws(InputError) {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: text)
        } catch {
            throw InputError("the answers in \(name) are not JSON: \(error)")
        }
        guard let members = json.members else { throw InputError("the answers in \(name) are not a JSON object") }
        var answers: [Factor.Key: [Secret]] = [:]
        for member in members {
            guard let key = Factor.Key(rawValue: member.key) else {
                let known = Factor.Key.allCases.map(\.rawValue).joined(separator: ", ")
                throw InputError("the answers in \(name) have the unknown key \"\(member.key)\"; known are \(known)")
            }
            let values = member.value.array ?? [member.value]
            answers[key] = try Self.texts(values, key: key, name: name)
        }
        self.answers = Locked(answers)
    }

    /// Reads the file.
    convenience init(path: String) throws {
        try self.init(text: StandardInput.contents(of: path), name: path)
    }

    private static func texts(_ values: [JSONValue], key: Factor.Key, name: String) throws(InputError) -> [Secret] {
        var texts: [Secret] = []
        for value in values {
            // A code is often written as a number; its spelling counts, so a leading zero needs a text.
            guard let text = value.codeText ?? value.string else {
                throw InputError("the answer \(key.rawValue) in \(name) is neither a text nor an array of texts")
            }
            texts.append(Secret(text))
        }
        return texts
    }

    /// Whether an answer is left.
    func has(_ key: Factor.Key) -> Bool {
        answers.withLock { $0[key]?.isEmpty == false }
    }

    /// Whether another proof may be given in the place of one that nobody has; said once for each.
    func mayStandIn(for key: Factor.Key) -> Bool {
        let proofs: [Factor.Key] = [.totp, .emailCode, .phoneCode, .backupCode, .securityAnswer]
        guard proofs.contains(key), proofs.contains(where: { $0 != key && has($0) }) else { return false }
        return replaced.withLock { $0.insert(key).inserted }
    }

    /// The factor that the next choice names, which is used up with this.
    ///
    /// - Returns: Nil if no choice is left, or if this question does not offer it: it then waits for the first one
    ///   that does.
    func takeChoice(among factors: [Factor]) -> Factor? {
        let name = answers.withLock { $0[.choice]?.first?.reveal() }
        guard let name else { return nil }
        let exact = factors.first { $0.providerName == name || $0.key.rawValue == name }
        guard let factor = exact ?? factors.first(where: { $0.providerName.lowercased() == name.lowercased() }) else {
            passedBy.withLock { $0 = factors.map(\.providerName) }
            return nil
        }
        passedBy.withLock { $0 = nil }
        _ = take(.choice)
        return factor
    }

    /// Why a choice that no question has offered can be a slip; nil if all were taken, or were not asked for.
    var untakenChoice: String? {
        guard let name = answers.withLock({ $0[.choice]?.first?.reveal() }),
            let offered = passedBy.withLock({ $0 })
        else { return nil }
        return "the choice \"\(name)\" is not offered; the server offers \(offered.joined(separator: ", "))"
    }

    /// Checks at the end of a sign-in that every choice that was asked for was one.
    ///
    /// A factor that the server did not want this time is no mistake; a name that nothing has is.
    func checkChoices() throws(InputError) {
        guard let name = answers.withLock({ $0[.choice]?.first?.reveal() }), Factor.Key(rawValue: name) == nil,
            let untaken = untakenChoice
        else { return }
        throw InputError("\(untaken); the session that was reached without it is kept")
    }

    /// The next answer, which is used up with this.
    func take(_ key: Factor.Key) -> Secret? {
        answers.withLock { answers in
            guard var left = answers[key], !left.isEmpty else { return nil }
            let next = left.removeFirst()
            answers[key] = left
            return next
        }
    }
}

/// What the user has given is not usable; ends with exit code 65.
struct InputError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
