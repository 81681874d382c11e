import HTTPRecovery
import HTTPRecoveryTesting

/// Answers that no server should give.
struct HostileAnswer: Sendable {
    /// What an answer proves.
    enum Proof {
        case nothing
        /// That the journey is too old to have looked at the answers of its step.
        case journeyDead
        /// That nothing was done.
        case undone
    }

    var name: String
    var step: ScriptedTransport.Step
    var proof = Proof.nothing

    /// What means nothing of the sort, with any status.
    private static let bodies = [
        "", "null", "[]", "{}", "7", #""text""#, "<html></html>", "plain text", "{", #"{"code":null}"#,
        #"{"code":401}"#,
        #"{"code":"x","message":7}"#, #"{"code":401,"message":"Login failure"}"#,
        #"{"code":999,"reason":[],"message":null}"#,
        #"{"code":401,"detail":"110"}"#, #"{"code":401,"detail":{"errorCode":{}}}"#,
        #"{"code":401,"detail":{"errorCode":1e400}}"#, #"{"errorMessage":"x","failureUrl":7}"#,
        #"{"error":"access_denied"}"#, #"{"error":"invalid_grant"}"#, #"{"error":null}"#, #"{"error":"server_error"}"#,
        #"{"failure":true,"reason":"http-auth-failed","authId":"h1"}"#, #"{"failure":true}"#,
        #"{"id":"t1","code":"UNEXPECTED_ERROR","message":"m"}"#,
        #"{"id":"t1","code":"INVALID_DATA","message":"m","details":[{"code":"INVALID_OTP","innerError":{"attemptsRemaining":0}}]}"#,
        #"{"id":"t1","code":"INVALID_DATA","message":"m","details":[{"rawResponse":{"code":"PASSWORD_LOCKED_OUT","secondsUntilUnlock":1e30}}]}"#,
        #"{"connectorId":"pingOneAuthenticationConnector","capabilityName":"setSession"}"#,
        #"{"status":"FAILED","error":{"code":"x"}}"#, #"{"status":"OTP_REQUIRED"}"#,
        #"{"advices":{"TransactionConditionAdvice":[7]}}"#, #"{"advices":{"TransactionConditionAdvice":["tx"]}}"#,
        String(repeating: "[", count: 3000), #"{"callbacks":"# + String(repeating: #"[{"output":"#, count: 400),
    ]

    /// What looks like a step, or like the end of a journey.
    private static let steps: [String] =
        [
            "7", "null", "[]", "{}", "[null]", "[7]", "[[]]", "[{}]", #"[{"type":7}]"#, #"[{"type":"NameCallback"}]"#,
            #"[{"type":"NameCallback","output":null,"input":null}]"#,
            #"[{"type":"NameCallback","output":{"a":1},"input":{"b":2}}]"#,
            #"[{"type":"NameCallback","output":[7],"input":[7]}]"#,
            #"[{"type":"PasswordCallback","output":[{"name":7}],"input":[{"name":7}]}]"#,
            #"[{"type":"PasswordCallback","input":[{}],"input":[{"name":"IDToken1","value":""}],"_id":0,"_id":1}]"#,
            "[\(Array(repeating: AM.name, count: 300).joined(separator: ","))]",
        ].map { #"{"authId":"h1","callbacks":\#($0)}"# }
        + [
            AM.name, AM.password, AM.code, AM.text("Wait"), AM.text("Wait", kind: "4"), AM.choice(), AM.choice("a"),
            AM.confirmation(), AM.confirmation("a", "b"), AM.hidden, AM.authentication,
            "\(AM.authentication),\(AM.hidden)", "\(AM.metadata("null")),\(AM.hidden)",
            "\(AM.metadata(#"{"_type":"WebAuthn","challenge":7}"#)),\(AM.hidden)", AM.metadata("[[[]]]"),
            "\(AM.name),\(AM.password)", "\(AM.text("No", kind: "2")),\(AM.code)", "\(AM.code),\(AM.code)",
            callback("ChoiceCallback", #"{"name":"choices","value":null},{"name":"defaultChoice","value":-7}"#),
            callback("ChoiceCallback", #"{"name":"choices","value":[1,[2]]},{"name":"defaultChoice","value":1e30}"#),
            callback("ConfirmationCallback", #"{"name":"options","value":"x"},{"name":"optionType","value":9}"#),
            callback("ConfirmationCallback", #"{"name":"options","value":["x"]}"#, inputs: 0),
            AM.poll("x"), AM.poll("-1"), AM.poll("0"), AM.poll("1e400"), AM.poll("99999999999999999999"), AM.poll(),
            "\(AM.poll()),\(AM.confirmation("Exit"))", "\(AM.poll()),\(AM.code)",
            callback("PollingWaitCallback"), callback("SuspendedTextOutputCallback", inputs: 0),
            callback("RedirectCallback"), callback("RedirectCallback", #"{"name":"redirectUrl","value":7}"#),
            callback("RedirectCallback", #"{"name":"redirectUrl","value":"javascript:alert(1)"}"#),
            callback("IdPCallback"), callback("IdPCallback", #"{"name":"provider","value":[]}"#),
            callback("SelectIdPCallback"), callback("SelectIdPCallback", #"{"name":"providers","value":[7,{}]}"#),
            callback("TermsAndConditionsCallback"), callback("ConsentMappingCallback", inputs: 0),
            callback("KbaCreateCallback"), callback("KbaCreateCallback", inputs: 2),
            callback("KbaCreateCallback", #"{"name":"predefinedQuestions","value":[7]}"#, inputs: 2),
            callback("BooleanAttributeInputCallback"), callback("NumberAttributeInputCallback"),
            callback("ValidatedCreatePasswordCallback", #"{"name":"failedPolicies","value":["x",7,"{"]}"#),
            callback("ValidatedCreateUsernameCallback", #"{"name":"failedPolicies","value":"x"}"#),
            callback("DeviceProfileCallback"), callback("DeviceProfileCallback", inputs: 0),
            callback("DeviceBindingCallback"), callback("DeviceSigningVerifierCallback"),
            callback("ReCaptchaCallback"), callback("ReCaptchaEnterpriseCallback", inputs: 0),
            callback("AppIntegrityCallback"), callback("PingOneProtectEvaluationCallback"), callback("HttpCallback"),
            callback("X509CertificateCallback"), callback("LanguageCallback", inputs: 2), callback("OfTomorrow"),
            callback("OfTomorrow", inputs: 0), "\(AM.password),\(callback("OfTomorrow"))",
        ].map { #"{"authId":"h1","callbacks":[\#($0)]}"# }
        + [
            #"{"callbacks":[\#(AM.name)]}"#, #"{"authId":"","callbacks":[\#(AM.name)]}"#,
            #"{"authId":7,"callbacks":[\#(AM.name)]}"#, #"{"authId":null,"callbacks":[\#(AM.poll())]}"#,
            #"{"authId":"h1"}"#, #"{"authId":"h1","stage":7,"callbacks":[\#(AM.code)],"callbacks":[]}"#,
            #"{"authId":"h1","tokenId":"S9","callbacks":[\#(AM.code)]}"#, #"{"authId":"h1","callbacks":[],"code":401}"#,
            #"{"tokenId":7}"#, #"{"tokenId":""}"#, #"{"tokenId":"","successUrl":"/x"}"#, #"{"tokenId":null}"#,
            #"{"tokenId":"S9"}"#, #"{"tokenId":"S9","successUrl":"https://evil.example/","realm":7}"#,
            #"{"tokenId":"S9\r\nX: y"}"#, #"{"tokenId":"S9; a=b"}"#, #"{"tokenId":"Ä"}"#, #"{"tokenId":" "}"#,
            #"{"successUrl":null}"#, #"{"successUrl":7}"#, #"{"tokenId":"S9","code":401,"message":"Login failure"}"#,
            #"{"tokenId":"\#(String(repeating: "S", count: 70_000))"}"#, #"{"valid":false}"#,
            #"{"username":7,"realm":[]}"#,
        ]

    private static let errors: [HostileAnswer] =
        [101, 102, 103, 104, 105, 107, 112, 113, 115, 118, 119, 123, 7, -1].map { (number: Int) in
            HostileAnswer(name: "401 \(number)", step: .error(401, "x", number: "\(number)"))
        }
        + [("110", 401), (#""110""#, 401), (#""110""#, 408)].map { (number: String, status: Int) in
            HostileAnswer(
                name: "\(status) \(number)",
                step: .error(status, "Session has timed out", number: number),
                proof: .journeyDead
            )
        }
        + [
            (400, "AuthId JWT Signature not valid"), (400, "Failed to parse JWT, x"),
            (400, "Authentication Error: Authentication timeout."), (408, "x"),
            (401, "a.SuspendedAuthSessionException: b"),
        ].map { status, message in
            HostileAnswer(name: "\(status) \(message)", step: .error(status, message), proof: .journeyDead)
        }
        + [
            (401, "Your account has been locked."), (401, "Warning: You will be locked out after 1 more failure(s)."),
            (401, "Access Denied"), (400, "Invalid realm, x"), (404, "Resource cannot be found."), (406, "x"),
            (409, "x"), (410, "Token not found"), (415, "x"), (500, "Authentication Error!!"), (501, "x"),
            (502, "x"), (503, "Forgot password is not accessible."), (403, "Forbidden"), (421, "x"), (425, "x"),
        ].map { status, message in
            HostileAnswer(
                name: "\(status) \(message)",
                step: .error(status, message),
                proof: [421, 425].contains(status) ? .undone : .nothing
            )
        }

    private static let odd: [HostileAnswer] = [
        HostileAnswer(
            name: "403 REQUEST_LIMITED",
            step: .status(403, body: #"{"id":"t1","code":"REQUEST_LIMITED","message":"m"}"#),
            proof: .undone
        ),
        HostileAnswer(
            name: "400 requestTimedOut",
            step: .status(400, body: #"{"status":"FAILED","error":{"code":"requestTimedOut"}}"#),
            proof: .journeyDead
        ),
        HostileAnswer(name: "302", step: .status(302, ["location": "https://example.com/"])),
        HostileAnswer(name: "302 nowhere", step: .status(302)),
        HostileAnswer(name: "302 itself", step: .status(302, ["location": ""])),
        HostileAnswer(name: "307", step: .status(307, ["location": "/am/json/realms/root/realms/alpha/authenticate"])),
        HostileAnswer(
            name: "307 advice",
            step: .status(307, ["location": "/am/?authIndexType=composite_advice&authIndexValue=%ZZ"])
        ),
        HostileAnswer(name: "401 advice", step: .status(401, ["www-authenticate": "SSOADVICE advices=\"%\","])),
        HostileAnswer(name: "401 bearer", step: .status(401, ["www-authenticate": #"Bearer error="invalid_token""#])),
        HostileAnswer(name: "204", step: .status(204)), HostileAnswer(name: "299", step: .status(299, body: "{}")),
        HostileAnswer(name: "101", step: .status(101)), HostileAnswer(name: "999", step: .status(999)),
        HostileAnswer(name: "cookies", step: .status(200, ["set-cookie": "sso=S8; a=b"], body: #"{"tokenId":"S8"}"#)),
        HostileAnswer(
            name: "429 for ages",
            step: .status(429, ["retry-after": "99999999999999999999"]),
            proof: .undone
        ),
        HostileAnswer(name: "429 nan", step: .status(429, ["retry-after": "nan"]), proof: .undone),
        HostileAnswer(name: "503", step: .status(503, ["retry-after": "2"]), proof: .undone),
        HostileAnswer(name: "503 -1", step: .status(503, ["retry-after": "-1"])),
        HostileAnswer(
            name: "503 passed",
            step: .status(503, ["retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"]),
            proof: .undone
        ),
        HostileAnswer(name: "lost", step: .fail(.connectionLost, .unknown)),
        HostileAnswer(name: "cut", step: .fail(.truncated, .answered)),
        HostileAnswer(name: "unsent", step: .fail(.cannotConnect, .neverSent), proof: .undone),
    ]

    /// All of them.
    static let all: [HostileAnswer] =
        [200, 400, 401, 403, 429, 500].flatMap { status in
            bodies.map { body in
                HostileAnswer(
                    name: "\(status) \(body.prefix(120))",
                    step: .status(status, [:], body: body),
                    proof: status == 429 ? .undone : .nothing
                )
            }
        } + steps.map { HostileAnswer(name: "200 \($0.prefix(160))", step: .status(200, [:], body: $0)) } + errors + odd
}
