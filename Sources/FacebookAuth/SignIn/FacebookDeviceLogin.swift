public import AuthRecovery
public import HTTPRecovery

/// A device login that has begun: what the person has to do, and until when.
public struct FacebookDeviceLogin: Sendable {
    /// What the program presents until the person has entered the other code.
    public let deviceCode: Secret
    /// What the person enters.
    public let userCode: String
    /// Where the person enters it.
    public let verificationURI: String
    /// The least time between two questions; at least 1 s, 5 s where none is stated that makes sense.
    public let interval: Duration
    /// When the login is over, on the client's clock.
    public let expiresAt: TimeSource.Instant

    /// Reads an answer; nil where one of the codes or the address is missing.
    init?(_ json: JSONValue, receivedAt: TimeSource.Instant) {
        guard let deviceCode = json["code"]?.codeText?.bounded(to: 1024),
            let userCode = json["user_code"]?.codeText?.bounded(to: 64),
            let uri = json["verification_uri"]?.string?.nonEmpty?.bounded(to: 2048)
        else { return nil }
        self.deviceCode = Secret(deviceCode)
        self.userCode = userCode
        self.verificationURI = uri
        let lifetime = min(Self.span(json["expires_in"]) ?? .seconds(420), .seconds(86_400))
        expiresAt = receivedAt.advanced(by: lifetime)
        // One that leaves no time for a question is no interval.
        let stated = Self.span(json["interval"]).flatMap { $0 < lifetime ? $0 : nil }
        interval = min(max(stated ?? .seconds(5), .seconds(1)), .seconds(3600))
    }

    /// A span in seconds; nil where it is none, or not above zero.
    private static func span(_ value: JSONValue?) -> Duration? {
        value?.looseNumber.map(\.seconds).flatMap { $0 > .zero ? $0 : nil }
    }

    /// What is shown to the person.
    var challenge: Challenge {
        Challenge(
            factor: Factor(key: .push, providerName: "device_login", destination: verificationURI),
            prompt: "Open \(verificationURI) and enter the code \(userCode).",
            number: userCode
        )
    }
}

extension FacebookDeviceLogin: Redacted {
    /// A placeholder: the codes are for the person alone.
    public var description: String { "FacebookDeviceLogin" }
}
