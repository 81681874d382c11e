import ForgeRockAuth
import HTTPRecovery
import HTTPTypes
import Testing

@Suite("Advices of policies, in their three carriers")
struct PolicyAdviceTests {
    static let xml =
        #"<Advices><AttributeValuePair><Attribute name="TransactionConditionAdvice"/><Value>tx-1</Value></AttributeValuePair></Advices>"#
    static let json = #"{"TransactionConditionAdvice":["tx-1"]}"#
    static let encoded = xml.utf8.map { byte -> String in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            String(decoding: [byte], as: UTF8.self)
        default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }.joined()

    private func resource(
        _ status: Int,
        _ lines: [(String, String)] = [],
        body: String = "",
        presented: Outcome.CredentialKind? = .session
    ) -> Outcome {
        Exchanged(
            status: status,
            body: body,
            lines: lines,
            presented: presented,
            method: .get,
            path: "/ig/txn"
        ).outcome
    }

    private func expectAdvice(_ outcome: Outcome, _ json: String = Self.json) throws {
        #expect(outcome.kind == .stepUpRequired && outcome.remedies == [.stepUp])
        #expect(outcome.tokenAction == .keep && outcome.processed == .no)
        #expect(try outcome.advice == JSONValue(parsing: json))
    }

    @Test func aRedirect() throws {
        let base =
            "https://am.example.com/am/?goto=https%3A%2F%2Fapp%2F&realm=/&authIndexType=composite_advice&authIndexValue="
        try expectAdvice(resource(307, [("Location", base + Self.encoded)]))
        try expectAdvice(resource(307, [("Location", base + Base64Text.encode(Self.xml, urlSafe: true))]))
        try expectAdvice(resource(302, [("location", base + Base64Text.encode(Self.xml) + "&x=1#login")]))
        // Without an advice that can be read it is the way to the sign-in.
        for other in ["https://am/login?goto=x", base + "%%%", base] {
            #expect(resource(307, [("Location", other)]).kind == .credentialRejected)
            #expect(resource(307, [("Location", other)]).tokenAction == .keep)
        }
        #expect(resource(307, [("Location", "?authIndexType=composite_advice")]).kind == .ok)
    }

    @Test func aChallenge() throws {
        let text = Base64Text.encode(Self.json)
        let bare = text.filter { $0 != "=" }
        for line in [
            #"SSOADVICE realm="/",advices="\#(text)",am_uri="https://am/""#,
            #"ssoadvice am_uri="https://am/", advices="\#(bare)", realm="/","#,
            #"SSOADVICE advices=\#(bare),realm=/"#, #"Bearer realm="x", SSOADVICE advices="\#(text)""#,
        ] {
            try expectAdvice(resource(401, [("www-AUTHENTICATE", line)]))
        }
        for line in [
            #"SSOADVICE realm="/",advices="%%%""#, #"SSOADVICE realm="/""#,
            #"SSOADVICE advices="\#(Base64Text.encode("[]"))""#,
        ] {
            let outcome = resource(401, [("WWW-Authenticate", line)])
            #expect(outcome.kind == .credentialRejected && outcome.advice == nil, "\(line)")
            #expect(outcome.credential == .session)
        }
    }

    @Test func aBody() throws {
        let advices = #""advices":{"AuthenticateToServiceConditionAdvice":["/alpha:StepUp"]},"ttl":0"#
        let one = #"{"resource":"https://app/","actions":{},"attributes":{},\#(advices)}"#
        let expected = #"{"AuthenticateToServiceConditionAdvice":["/alpha:StepUp"]}"#
        try expectAdvice(resource(200, body: one), expected)
        try expectAdvice(resource(401, body: "[\(one)]"), expected)
        try expectAdvice(
            resource(200, body: #"[{"resource":"x","actions":{"GET":true},"advices":{}},\#(one)]"#),
            expected
        )
        for other in [
            #"{"resource":"x","actions":{},"advices":{}}"#, #"{"advices":{"a":["b"]}}"#,
            #"{"resource":"x","advices":{"a":[]}}"#, #"{"resource":"x","advices":[1]}"#,
        ] {
            #expect(resource(200, body: other).kind == .ok)
        }
        #expect(resource(503, body: one).kind == .unavailable)
        let evaluated = Exchanged(status: 200, body: one, path: "/am/json/realms/root/policies").outcome
        #expect(evaluated.kind == .stepUpRequired && evaluated.processed == .yes)
    }

    @Test func theXMLGoesThereAndBack() throws {
        let advice = PolicyAdvice([
            .init(name: "TransactionConditionAdvice", values: ["a<&>\"'"]), .init(name: "X", values: ["1", "2"]),
            // Marks that a text would join to what stands beside them.
            .init(name: "\u{301}Y\u{301}", values: ["\u{301}a&\u{301}", "<\u{301}", "\u{600}"]),
        ])
        let base = "https://am/?authIndexType=composite_advice&authIndexValue="
        let outcome = resource(307, [("Location", base + Base64Text.encode(advice.xml, urlSafe: true))])
        #expect(outcome.advice.flatMap { PolicyAdvice($0) } == advice)
        #expect(PolicyAdvice(try JSONValue(parsing: Self.json))?.xml == Self.xml)
    }
}

enum Base64Text {
    static func encode(_ text: String, urlSafe: Bool = false) -> String {
        urlSafe ? Base64.encodeForURL(text.utf8) : Base64.encode(text.utf8)
    }
}
