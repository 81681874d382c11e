import AuthCryptography
import HTTPRecovery
import HTTPTypes

@testable import AuthRecovery

/// What authorization servers send.
enum AuthTargets {
    static func readOAuth(_ bytes: [UInt8]) {
        let answer = FuzzedAnswer(bytes)
        answer.judge(by: OAuthClassifier())
        let expected: [OAuthEndpointClassifier.Expectation] = [
            .tokens, .deviceAuthorization, .introspection, .metadata, .nothing,
        ]
        for expectation in expected {
            for isPolling in [false, true] {
                let classifier = OAuthEndpointClassifier(expects: expectation, isPolling: isPolling)
                checkOutcome(classifier.classify(answer.exchange))
            }
        }
        let location = answer.fields[.location] ?? String(decoding: answer.body, as: UTF8.self)
        let redirect = OAuthClient.AuthorizationRedirect(url: location)
        _ = redirect.error?.outcome(presented: answer.presented)
        let form = FormFields(parsing: answer.body)
        require(FormFields(parsing: form.encoded.utf8) == form || form.encoded.utf8.count > 65_536, "forms are kept")
    }

    /// The answers of token and device endpoints.
    static func readTokens(_ bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes) else { return }
        read(json)
        guard let planted = Planted.body(bytes), let json = try? JSONValue(parsing: planted) else { return }
        read(json)
    }

    private static func read(_ json: JSONValue) {
        let lastSecond = Timestamp(secondsSinceEpoch: 253_402_300_799)
        if let answer = OAuthClient.TokenAnswer(json, date: FuzzedAnswer.now) {
            Planted.checkHidden(in: answer)
            require(answer.expiresAt.map { $0 <= lastSecond && $0 > FuzzedAnswer.now } ?? true, "an end can be written")
            let credentials = answer.merged(into: Credentials())
            Planted.checkHidden(in: credentials)
            let text = credentials.json.description
            guard let value = try? JSONValue(parsing: text), let read = try? Credentials(json: value) else {
                fatalError("Not so: stored credentials can be read")
            }
            require(read.json == credentials.json, "credentials are read as they were written")
        }
        let clock = TimeSource.system
        if let device = OAuthClient.DeviceAuthorization(json, receivedAt: clock.now) {
            Planted.checkHidden(in: device)
            require(device.interval >= .seconds(1) && device.interval <= .longest, "polls are a second apart")
            require(device.expiresAt <= clock.now.advanced(by: .seconds(86_400)), "nobody polls for over a day")
        }
        let introspection = OAuthClient.Introspection(claims: json)
        Planted.checkHidden(in: introspection)
        _ = (introspection.isActive, introspection.expiresAt?.rfc3339)
    }

    /// A token and, behind a line feed, the keys of who should have signed it.
    static func readIDToken(_ bytes: [UInt8]) {
        let end = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
        let token = Secret(String(decoding: bytes[..<end], as: UTF8.self))
        if let read = UnverifiedJWT(token) {
            _ = (read.expiresAt?.rfc3339, read.issuedAt?.rfc3339, read.issuer, read.subject)
        }
        guard let keys = try? JSONValue(parsing: bytes[end...].dropFirst()) else { return }
        // Without the private keys nobody signs anything else than the seed.
        let isSigned = JSONWebKey.Verifier().isSigned(token, withOneOf: keys)
        require(!isSigned || token.reveal().hasPrefix(signedInput), "a signature is no guess")
        for key in keys["keys"]?.array ?? [] { _ = JSONWebKey(key).thumbprint }
    }

    /// What the signature of the seed is for.
    private static let signedInput =
        "eyJhbGciOiJFZERTQSIsImtpZCI6ImsifQ"
        + ".eyJpc3MiOiJodHRwczovL2FzLmV4YW1wbGUiLCJhdWQiOiJhcHAiLCJleHAiOjE3NjcyMjkyMDB9."
}
