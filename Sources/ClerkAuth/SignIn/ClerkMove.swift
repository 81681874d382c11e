import AuthRecovery
import HTTPRecovery

/// What a part of a sign-in is told to do.
enum ClerkMove: Sendable {
    case begin
    case choose(Factor)
    case submit(Secret, Challenge)
    case resend(Factor, waitingAtMost: Duration?)
    case replace(Factor, after: RecoveryError?)
    case resync(after: RecoveryError?)
    case poll(unlessBoundBy: RecoveryError?)
    /// Goes on with an answer that tells where the flow stands.
    case follow(ClerkAnswer)

    /// What is done once somebody has proved that they are no robot, if it was refused for want of that; nil if it cannot
    /// wait.
    var deferred: ClerkMove? {
        switch self {
        case .begin, .choose, .submit: self
        case .resend(let factor, _): .choose(factor)
        case .replace, .resync, .poll, .follow: nil
        }
    }

    /// Whether it only reads: what became of it leaves nothing in doubt.
    var isReading: Bool {
        switch self {
        case .resync, .poll: true
        default: false
        }
    }
}

extension ClerkMove: Remembered {
    /// Only what can be deferred is written down.
    var memory: JSONValue {
        switch self {
        case .begin: ["begin": true]
        case .choose(let factor): ["choose": factor.memory]
        case .submit(let answer, let challenge): ["submit": answer.memory, "to": challenge.memory]
        case .resend, .replace, .resync, .poll, .follow: .null
        }
    }

    init?(memory: JSONValue) {
        if memory["begin"]?.bool == true {
            self = .begin
        } else if let factor = memory["choose"].flatMap({ Factor(memory: $0) }) {
            self = .choose(factor)
        } else if let answer = memory["submit"].flatMap({ Secret(memory: $0) }),
            let challenge = memory["to"].flatMap({ Challenge(memory: $0) })
        {
            self = .submit(answer, challenge)
        } else {
            return nil
        }
    }
}

extension ClerkStage {
    mutating func make(_ move: ClerkMove) async throws -> ClerkStep {
        switch move {
        case .begin: try await begin()
        case .choose(let factor): try await choose(factor)
        case .submit(let answer, let challenge): try await submit(answer, to: challenge)
        case .resend(let factor, let limit): try await resend(factor, waitingAtMost: limit)
        case .replace(let factor, let refusal): try await replace(factor, after: refusal)
        case .resync(let doubt): try await resync(after: doubt)
        case .poll(let bound): try await poll(unlessBoundBy: bound)
        case .follow(let answer): try await follow(answer)
        }
    }
}
