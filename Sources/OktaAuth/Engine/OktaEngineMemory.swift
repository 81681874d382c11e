import AuthRecovery
import HTTPRecovery

extension OktaEngineMachine: RecalledFields {
    static let name = "engine"

    var memory: JSONValue { [Self.name: recalled] }

    static var fields: [RememberedField<OktaEngineMachine>] {
        [
            .init("goal", \.goal), .init("identifier", \.identifier), .init("password", \.password),
            .init("interaction", \.interaction), .init("answer", \.answer), .init("entries", \.entries),
            .init("pending", \.pending), .init("sent", \.sent), .init("recovers", \.recovers),
            .init("exchanges", \.exchanges), .init("lifts", \.lifts), .init("unattended", \.unattended),
            .init("wants_device", \.wantsDevice), .init("captcha", \.captcha),
            .init("polling", \.pollingMemory), .init("assurance", \.app.rememberedAssurance),
        ]
    }

    private var pollingMemory: OktaEnginePolling.Memory? {
        get { polling.map(OktaEnginePolling.Memory.init) }
        set {
            guard let newValue, let answer else { return polling = nil }
            polling = OktaEnginePolling(newValue, at: answer, interval: api.configuration.pollInterval)
        }
    }
}
