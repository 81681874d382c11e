import AuthRecovery
import HTTPRecovery

/// What is written down of a sign-in between two requests of a web backend.
extension Auth0SignInMachine {
    static let name = "auth0"

    var memory: JSONValue {
        [
            Self.name: [
                "identifier": .string(identifier),
                "password": .text(password),
                "token": .text(token?.value),
                "ends_at": token.map { .string($0.endsAt.rfc3339) } ?? .null,
                "authenticators": .array(authenticators.map(\.memory)),
                "challenge": .text(challenge?.code),
                "wants_code": .bool(challenge?.wantsCode ?? false),
                "factor": .string(factor?.id ?? ""),
                "interval": .number(JSONValue.Number(interval.components.seconds)),
            ]
        ]
    }

    /// Takes up again what ``memory`` has written; false for anything else.
    mutating func recall(_ memory: JSONValue) -> Bool {
        guard let own = memory[Self.name], let identifier = own["identifier"]?.string,
            let authenticators = own["authenticators"]?.array?.map({ Auth0Authenticator($0) }),
            let seconds = own["interval"]?.number?.saturatedInt
        else { return false }
        self.identifier = identifier
        self.authenticators = authenticators.compactMap(\.self)
        password = own["password"]?.string.map { Secret($0) }
        if let value = own["token"]?.string, let end = own["ends_at"]?.string.flatMap({ Timestamp(rfc3339: $0) }) {
            token = MFAToken(value: Secret(value), endsAt: end)
        }
        if let code = own["challenge"]?.string {
            challenge = Auth0Challenge(code: Secret(code), wantsCode: own["wants_code"]?.bool ?? false)
        }
        factor = self.authenticators.first { $0.id == own["factor"]?.string }?.factor
        interval = max(.seconds(seconds), api.configuration.pollInterval)
        return true
    }
}

extension Auth0Authenticator {
    /// As the tenant's list has it.
    var memory: JSONValue {
        let type =
            switch factor.key {
            case .totp: "otp"
            case .backupCode: "recovery-code"
            default: "oob"
            }
        return [
            "id": .string(id), "authenticator_type": .string(type), "oob_channel": .string(factor.providerName),
            "name": factor.destination.map { .string($0) } ?? .null,
        ]
    }
}

extension JSONValue {
    /// The secret as text; null for none.
    fileprivate static func text(_ secret: Secret?) -> JSONValue { secret.map { .string($0.reveal()) } ?? .null }
}
