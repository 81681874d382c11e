import AuthRecovery
import HTTPRecovery

/// Ends the process if a promise is broken: libFuzzer keeps the input.
func require(_ isKept: Bool, _ promise: @autoclosure () -> String) {
    if !isKept { fatalError("Not so: \(promise())") }
}

/// What all outcomes have to be, whoever has judged.
func checkOutcome(_ outcome: Outcome) {
    checkWait(outcome.retryAfter, "retryAfter")
    if case .remaining(let time) = outcome.lockout { checkWait(time, "lockout") }
    for item in outcome.items { checkOutcome(item) }
    let log = "\(outcome)\(RecoveryError(outcome: outcome, reason: .notRecoverable))"
    require(log.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "logs are printable ASCII: \(log.debugDescription)")
    _ = RecoveryError(outcome: outcome, reason: .deadlinePassed).userMessage
}

/// What an outcome is kept as in a suspended sign-in is read as it was written.
func checkMemory(of outcome: Outcome) {
    let text = outcome.memory.description
    let read = (try? JSONValue(parsing: text)).flatMap { Outcome(memory: $0) }
    require(read?.memory == outcome.memory, "an outcome is read as it was written: \(text)")
}

/// A wait is never below zero, and never beyond what can be calculated with.
func checkWait(_ wait: Duration?, _ name: String) {
    guard let wait else { return }
    require(wait >= .zero && wait <= .longest, "\(name) is within its bounds: \(wait)")
}

/// Secrets that are put into an input in place of what it has.
enum Planted {
    static let secret = "S3cr3tThatNobodyMaySee"

    /// Members that hold secrets, at one provider or another.
    private static let names: Set<String> = [
        "access_token", "refresh_token", "id_token", "client_secret", "password", "mfa_token", "device_code",
        "authId", "tokenId", "stateToken", "sessionToken", "recoveryToken", "stateHandle", "token", "jwt",
        "last_active_token", "recovery_code", "recovery_codes", "oob_code", "clientSecret", "newPassword", "ticket",
    ]

    /// The body with planted secrets; nil if it has no place for one, or the secret stands in it already.
    static func body(_ bytes: [UInt8]) -> [UInt8]? {
        guard let json = try? JSONValue(parsing: bytes) else { return nil }
        let planted = value(json, at: "")
        return planted == json ? nil : Array(planted.description.utf8)
    }

    private static func value(_ json: JSONValue, at name: String) -> JSONValue {
        switch json {
        case .string where names.contains(name): .string(secret)
        case .array(let elements): .array(elements.map { value($0, at: name) })
        case .object(let members): .object(members.map { JSONValue.Member($0.key, value($0.value, at: $0.key)) })
        default: json
        }
    }

    /// Whatever is printed of a value, the secret is not in it.
    static func checkHidden(in values: Any?...) {
        for case let value? in values {
            var dumped = ""
            dump(value, to: &dumped)
            let texts = [String(describing: value), String(reflecting: value), dumped]
            for text in texts where text.contains(secret) {
                fatalError("Not so: no secret is printed of \(type(of: value))")
            }
        }
    }
}
