import HTTPTypes

@testable import HTTPRecovery

/// What every server may send.
enum HTTPTargets {
    /// Header fields that state delays and limits, on all statuses where they count.
    static func readHints(_ bytes: [UInt8]) {
        let answer = FuzzedAnswer(Array("429\n".utf8) + bytes)
        for status in [200, 202, 302, 403, 429, 503] {
            let response = HTTPResponse(status: .init(code: status), headerFields: answer.fields)
            for isThrottle in [nil, true, false] {
                let delay = ServerDelay(response, receivedAt: FuzzedAnswer.now, isThrottle: isThrottle)
                checkWait(delay.delay, "delay")
            }
        }
        let limits = RateLimitFields(answer.fields)
        checkWait(limits.delay, "the draft's delay")
        checkWait(limits.window(ofPolicies: limits.policies.map(\.key.policy)), "window")
        let clock = ServerClock(answer.fields, receivedAt: FuzzedAnswer.now)
        let announced = LimitFamilies(answer.fields, clock: clock).announced
        for limit in announced { checkWait(limit.reset, "reset") }
        var state = AnnouncedLimit()
        state.note(announced, upTo: .seconds(600), at: .seconds(5))
        let cache = CacheControl(answer.fields)
        checkWait(cache.maxAge, "max-age")
        checkWait(cache.staleIfError, "stale-if-error")
    }

    static func readAnswer(_ bytes: [UInt8]) {
        let answer = FuzzedAnswer(bytes)
        answer.judge(by: HTTPClassifier())
        let outcome = HTTPClassifier().classify(answer.exchange)
        if let quick = HTTPClassifier().outcome(ofStatus: answer.status, fields: answer.fields) {
            require(quick == outcome, "the quick judgement is that of a closer look")
        }
    }

    /// Dates, times and spans; what is written of a time is read as the same.
    static func readTimes(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let clock = ServerClock([:], receivedAt: FuzzedAnswer.now)
        for read in [
            DelayText.seconds(text, allowsFraction: true), DelayText.milliseconds(text, allowsFraction: true),
            DelayText.retryAfter(text, clock: clock), DelayText.reset(text, clock: clock), DelayText.goDuration(text),
        ] {
            checkWait(read, "what \(text.debugDescription) states")
        }
        if let exact = Duration(exactText: text) {
            require(exact.exactText == text, "an exact span is written as it was read")
        }
        for time in [Timestamp(httpDate: text, now: FuzzedAnswer.now), Timestamp(rfc3339: text)].compactMap(\.self) {
            _ = time.elapsed(since: FuzzedAnswer.now)
            let written = time.rfc3339
            guard let read = Timestamp(rfc3339: written) else { fatalError("Not so: \(written) can be read") }
            require(read.rfc3339 == written, "\(written) is written as it was read")
            let isWithinYears = (-62_167_219_200...253_402_300_799).contains(time.secondsSinceEpoch)
            require(
                !isWithinYears || read.secondsSinceEpoch == time.secondsSinceEpoch,
                "\(text) and \(written) are one second"
            )
        }
    }

    static func readChallenges(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        var fields = HTTPFields()
        for line in text.utf8.split(separator: 0x0A).prefix(16) {
            fields.append(HTTPField(name: .wwwAuthenticate, value: String(Substring(line))))
        }
        for challenge in Exchange.AuthenticationChallenge.challenges(in: fields) {
            let names = challenge.parameters.map(\.name)
            require(Set(names).count == names.count, "no parameter is repeated: \(names)")
            _ = (challenge.error, challenge.errorDescription, challenge.isAboutTokens)
        }
    }

    /// What is written of a value is the value again.
    static func readJSON(_ bytes: [UInt8]) {
        guard let value = try? JSONValue(parsing: bytes) else { return }
        let text = value.description
        guard let again = try? JSONValue(parsing: text) else { fatalError("Not so: \(text) is JSON") }
        require(again == value, "\(text) is read as it was written")
        walk(value)
    }

    private static func walk(_ value: JSONValue) {
        _ = (value.codeText, value.span, value.moderate, value.count)
        if let number = value.lenientNumber {
            require(number.seconds.magnitudeIsBounded, "seconds are bounded: \(number.text)")
            _ = (number.saturatedInt, number.double)
            let span = JSONValue.Number(seconds: max(.zero, number.seconds)).text
            require((try? JSONValue(parsing: span))?.number != nil, "\(span) is a number")
        }
        for element in value.array ?? [] { walk(element) }
        for member in value.members ?? [] { walk(member.value) }
    }

    /// URLs and what redirects say, seen from a request.
    static func readURL(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let request = try? HTTPRequest(url: text) {
            let origin = Origin(of: request)
            let authority = origin.authority
            require(Origin(scheme: origin.scheme, authority: authority) == origin, "an origin is its own: \(origin)")
        }
        guard let base = try? HTTPRequest(url: "https://api.example.com/v1/a/../b;c?d=e") else { return }
        if let target = URLReference(text).resolved(against: base) {
            require(target.scheme == "https" || target.scheme == "http", "redirects lead to HTTP")
            require(target.path?.hasPrefix("/") == true, "a path begins with a slash")
            require(target.authority?.contains("@") == false, "no user name is sent")
        }
        require(Base64.decode(Base64.encode(bytes).utf8) == bytes, "Base64 is read as it was written")
        require(Base64.decode(Base64.encodeForURL(bytes).utf8) == bytes, "Base64url is read as it was written")
        require(Hexadecimal.decode(Hexadecimal.encode(bytes).utf8) == bytes, "digits are read as they were written")
        let escaped = PercentEncoding.encode(bytes) { $0.isAlphanumeric }
        require(PercentEncoding.decode(escaped.utf8).bytes == bytes, "escapes are read as they were written")
        _ = (Base64.decode(bytes), Hexadecimal.decode(bytes), PercentEncoding.decode(bytes))
    }
}

extension Duration {
    fileprivate var magnitudeIsBounded: Bool { self <= .longest && self >= .zero - .longest }
}
