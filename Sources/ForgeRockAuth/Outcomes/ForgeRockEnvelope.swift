import HTTPRecovery

/// An error of PingAM's REST API, in any of the forms that occur.
struct ForgeRockEnvelope {
    /// The status as the body states it.
    var code: String?
    var reason: String?
    var message: String?
    /// The finer code, mostly one of the numbers of the authentication service.
    var errorCode: String?
    /// Whether an HTTP callback has failed, while the journey goes on.
    var isCallbackFailure: Bool

    /// Reads a body; nil if it is no such error.
    init?(_ body: JSONValue) {
        guard case .object = body else { return nil }
        let code = body["code"]?.codeText
        let isStatus = code.flatMap { Int($0) }.map { (400..<600).contains($0) } ?? false
        let message = body["message"]?.string?.nonEmpty ?? body["errorMessage"]?.string?.nonEmpty
        isCallbackFailure = body["failure"]?.bool == true
        let isVersion1 = body["errorMessage"]?.string?.nonEmpty != nil
        guard isStatus || isVersion1 || isCallbackFailure else { return nil }
        self.code = isStatus ? code?.bounded(to: 64) : nil
        self.reason = body["reason"]?.string?.nonEmpty?.bounded(to: 256)
        self.message = message?.bounded(to: 4096)
        let holders = [body["detail"], body["details"], body]
        errorCode = holders.lazy.compactMap { $0?["errorCode"]?.codeText }.first?.bounded(to: 256)
    }

    /// The status that the body states.
    var status: Int? { code.flatMap { Int($0) } }

    /// The finer code, if it is one of the authentication service's numbers.
    var number: Int? { errorCode.flatMap { Int($0) } }
}
