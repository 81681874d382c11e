import AuthRecovery
import HTTPTypes

@testable import Auth0Auth
@testable import ClerkAuth
@testable import FacebookAuth
@testable import ForgeRockAuth
@testable import HTTPRecovery
@testable import OktaAuth

/// What the five providers send.
enum ProviderTargets {
    static func readClerk(_ bytes: [UInt8]) {
        FuzzedAnswer(bytes).judge(by: ClerkClassifier()) { answer in
            _ = ClientToken.change(statedBy: answer.fields)
            guard let json = answer.json else { return [] }
            let all = ClerkAnswer(json: json, response: nil)
            let client = ClerkClient.find(in: json)
            _ = (client?.currentSession, all.signIn.flatMap { client?.liveSession($0.createdSessionID) })
            // The settings of an instance are public, and kept as they came.
            _ = ClerkEnvironment(json)
            return [client, all.signIn, ClerkSignUp(json["response"]), ClerkSession(json["response"])]
        }
    }

    static func readOkta(_ bytes: [UInt8]) {
        FuzzedAnswer(bytes).judge(by: OktaClassifier()) { answer in
            guard let json = answer.json, let transaction = OktaTransaction(json, date: FuzzedAnswer.now) else {
                return []
            }
            let read = OktaTransaction(memory: transaction.memory)
            require(read?.memory == transaction.memory, "a transaction is read as it was written")
            _ = (transaction.recoveryQuestion, transaction.endsAt?.rfc3339)
            return [transaction, transaction.factors]
        }
    }

    static func readOktaEngine(_ bytes: [UInt8]) {
        FuzzedAnswer(bytes).judge(by: OktaClassifier()) { answer in
            guard let json = answer.json else { return [] }
            let step = OktaEngineAnswer(json)
            _ = (step.current?.key, step.userID, step.login)
            for form in step.forms {
                _ = form.body(["stateHandle": "h", "credentials.passcode": "1"], choosing: ["authenticator": 0])
                for field in form.fields {
                    for option in field.options { _ = step.related(to: option)?.name(nil) }
                }
            }
            let read = OktaEngineAnswer(memory: step.memory)
            require(read?.memory == step.memory, "an answer of the engine is read as it was written")
            return []
        }
    }

    static func readForgeRock(_ bytes: [UInt8]) {
        FuzzedAnswer(bytes).judge(by: ForgeRockClassifier()) { answer in
            guard let json = answer.json else { return [] }
            if let advice = PolicyAdvice(json) {
                require(PolicyAdvice(advice.json) == advice, "an advice is read as it was written")
            }
            guard var step = JourneyStep(json) else { return [] }
            require(JourneyStep(step.json)?.json == step.json, "a step is read as it was written")
            let untouched = step
            for index in step.callbacks.indices {
                var callback = step.callbacks[index]
                for input in callback.inputNames.indices { callback.setInput(.string(Planted.secret), at: input) }
                step.callbacks[index] = callback
            }
            _ = step.json.description
            return [step, untouched, step.callbacks]
        }
    }

    /// The scripts, data and XML that older servers send for browsers.
    static func readForgeRockScript(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let script = WebAuthnScript(text) { check(script.ceremony) }
        if let json = try? JSONValue(parsing: bytes), let metadata = WebAuthnMetadata(json) { check(metadata.ceremony) }
        _ = (WebAuthnScript.byteArrays(in: text), WebAuthnScript.numbers(after: "alg", in: text))
        if let time = StatedTime.find(in: text) { checkWait(time, "a stated time") }
        if let advice = PolicyAdvice(xml: text) {
            let written = advice.xml
            require(
                written.utf8.count > 65_536 || PolicyAdvice(xml: written) == advice,
                "\(written) is read as written"
            )
        }
    }

    private static func check(_ ceremony: WebAuthnCeremony) {
        require(
            ceremony.timeout >= .zero && ceremony.timeout <= .seconds(3600),
            "a ceremony ends: \(ceremony.timeout)"
        )
    }

    static func readFacebook(_ bytes: [UInt8]) {
        FuzzedAnswer(bytes).judge(by: FacebookClassifier(errors: .builtIn)) { answer in
            let usage = FacebookUsage(answer.fields)
            require(usage.percent >= 0 && usage.percent.isFinite, "a share is a number: \(usage.percent)")
            require(usage.entries.count <= 256, "entries are bounded")
            for entry in usage.entries { checkWait(entry.regain, "regain") }
            for code in [nil, 17, 80_004] { checkWait(usage.wait(forCode: code), "a wait") }
            guard let json = answer.json else { return [] }
            if let table = FacebookErrorConfiguration(json) {
                _ = table.category(code: 190, subcode: 463)
                checkOutcome(FacebookClassifier(errors: table).classify(answer.exchange))
            }
            for element in (json.array ?? []).prefix(64) {
                guard let item = FacebookBatchItem(element) else { continue }
                let outcome = item.outcome(
                    presented: answer.presented,
                    now: FuzzedAnswer.now,
                    classifier: FacebookClassifier()
                )
                checkOutcome(outcome)
            }
            let outcome = FacebookClassifier().classify(answer.exchange)
            let info = FacebookTokenInfo(json, outcome: outcome)
            _ = info?.grants("email", for: "1")
            return [info, FacebookUser(json), FacebookPermission(json)]
        }
    }

    static func readAuth0(_ bytes: [UInt8]) {
        FuzzedAnswer(bytes).judge(by: Auth0Classifier()) { answer in
            guard let json = answer.json, let error = Auth0Error(json) else { return [] }
            _ = (error.hasWord, error.parameter, error.brokenRules)
            return []
        }
    }
}
