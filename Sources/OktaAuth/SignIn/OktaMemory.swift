import AuthRecovery
package import HTTPRecovery

extension OktaSignInMachine: RecalledFields {
    static let name = "sign_in"

    var memory: JSONValue { [Self.name: recalled] }

    static var fields: [RememberedField<OktaSignInMachine>] {
        [
            .init("goal", \.goal), .init("identifier", \.identifier), .init("password", \.password),
            .init("new_password", \.newPassword), .init("transaction", \.transaction),
            .init("enrollment", \.enrolledFactor), .init("pushes", \.pushes), .init("sent", \.sent),
            .init("has_used_factors", \.hasUsedFactors), .init("is_recovering", \.recovery.isOpen),
            .init("has_redeemed", \.recovery.hasRedeemed), .init("exchanges", \.exchanges),
            .init("doubtful_password", \.doubtfulPassword), .init("unattended", \.unattended),
            .init("polling", \.pollingMemory), .init("assurance", \.assurance),
        ]
    }

    private var assurance: OktaAssurance? {
        get { api.configuration.app?.assurance }
        set {
            if let newValue { api.configuration.app?.assurance = newValue }
        }
    }

    private var transaction: OktaTransaction? {
        get { state?.transaction }
        set { state = newValue.map { OktaState($0, api: api) } }
    }

    private var enrolledFactor: Factor? {
        get { enrollment?.factor }
        set {
            enrollment = newValue.flatMap { factor in
                state?.transaction.factors.first { $0.factor?.isSame(as: factor) == true }
            }
        }
    }

    private var pollingMemory: OktaPolling.Memory? {
        get { polling.map(OktaPolling.Memory.init) }
        set {
            guard let newValue, let state else { return polling = nil }
            polling = OktaPolling(newValue, at: state, interval: api.configuration.pollInterval)
        }
    }
}

extension OktaSignInMachine.Goal: Remembered {
    var memory: JSONValue {
        switch self {
        case .signIn: ["sign_in": true]
        case .recover(let type): ["recover": .string(type?.rawValue ?? "")]
        case .resume(let token): ["resume": .string(token.reveal())]
        case .redeem(let token): ["redeem": token.memory]
        }
    }

    init?(memory: JSONValue) {
        if memory["sign_in"] != nil {
            self = .signIn
        } else if let type = memory["recover"]?.string {
            self = .recover(type.isEmpty ? nil : OktaFactorType(reading: type))
        } else if let token = memory["resume"]?.string {
            self = .resume(Secret(token))
        } else if let token = memory["redeem"].flatMap({ OktaLinkToken(memory: $0) }) {
            self = .redeem(token)
        } else {
            return nil
        }
    }
}

extension OktaPolling {
    /// What is written down of it; its state is the transaction's.
    struct Memory: RememberedFields {
        var factor: Factor?
        var shownNumber: String?
        var failures = 0
        var error: RecoveryError?
        var isReading = false
        var waited = Duration.zero

        init() {}

        init(_ polling: OktaPolling) {
            factor = polling.factor
            shownNumber = polling.shownNumber
            failures = polling.failures
            error = polling.error
            isReading = polling.isReading
            waited = polling.waited
        }

        static var fields: [RememberedField<Memory>] {
            [
                .init("factor", \.factor), .init("number", \.shownNumber), .init("failures", \.failures),
                .init("error", \.error), .init("is_reading", \.isReading), .init("waited", \.waited),
            ]
        }
    }
}

/// The answer as it came, and its end by this machine's clock.
extension OktaTransaction: Remembered {
    package var memory: JSONValue {
        ["body": body, "status": .string(status.rawValue), "lifetime": lifetime.memory, "ends_at": endsAt.memory]
    }

    package init?(memory: JSONValue) {
        guard let body = memory["body"], let status = memory["status"]?.string,
            let lifetime = Duration?(memory: memory["lifetime"] ?? .null),
            let endsAt = Timestamp?(memory: memory["ends_at"] ?? .null)
        else { return nil }
        self.init(body, status: OktaStatus(rawValue: status), date: Timestamp(secondsSinceEpoch: 0))
        self.lifetime = lifetime
        self.endsAt = endsAt
    }
}
