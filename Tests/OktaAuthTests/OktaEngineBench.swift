import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

/// The identity engine's answers as text.
enum Ion {
    static let app = OktaConfiguration(app: OktaApp(clientID: "0oa1", redirectURI: "com.example:/callback"))

    static func field(_ name: String, _ more: String = "") -> String {
        #"{"name":"\#(name)","required":true\#(more.isEmpty ? "" : ",\(more)")}"#
    }

    static func object(_ name: String, _ fields: String...) -> String {
        #"{"name":"\#(name)","type":"object","required":true,"form":{"value":[\#(fields.joined(separator: ","))]}}"#
    }

    static func form(_ name: String, _ path: String, _ fields: String..., more: String = "") -> String {
        let handle = #"{"name":"stateHandle","required":true,"value":"H","visible":false,"mutable":false}"#
        return
            #"{"rel":["create-form"],"name":"\#(name)","href":"https://example.okta.com/idp/idx/\#(path)","method":"POST","value":[\#((fields + [handle]).joined(separator: ","))],"accepts":"application/json; okta-version=1.0.0"\#(more)}"#
    }

    static let passcode = object("credentials", field("passcode", #""secret":true"#))
    static let identify = form("identify", "identify", field("identifier"))
    static let answer = form("challenge-authenticator", "challenge/answer", passcode)
    static let skip = form("skip", "skip")

    /// A form that offers authenticators: each an id, a method and where more is told of it.
    static func select(_ name: String, _ options: (id: String, method: String, relation: String)...) -> String {
        let entries = options.map { option in
            #"{"label":"\#(option.id)","value":{"form":{"value":[{"name":"id","required":true,"value":"\#(option.id)","mutable":false},{"name":"methodType","required":false,"value":"\#(option.method)","mutable":false}]}},"relatesTo":"\#(option.relation)"}"#
        }
        return form(
            name,
            name.hasSuffix("enroll") ? "credential/enroll" : "challenge",
            #"{"name":"authenticator","type":"object","options":[\#(entries.joined(separator: ","))]}"#
        )
    }

    static func current(_ key: String, _ method: String, _ more: String = "") -> String {
        #""currentAuthenticatorEnrollment":{"type":"object","value":{"type":"x","key":"\#(key)","id":"eae1","methods":[{"type":"\#(method)"}]\#(more.isEmpty ? "" : ",\(more)")}}"#
    }

    static let password = current("okta_password", "password")
    static let resend = #""resend":\#(form("resend", "challenge/resend"))"#

    static func message(_ key: String, _ severity: String = "ERROR") -> String {
        #""messages":{"type":"array","value":[{"message":"Told.","i18n":{"key":"\#(key)"},"class":"\#(severity)"}]}"#
    }
}

extension ScriptedTransport.Step {
    static func ion(_ forms: String..., more: String = "", status: Int = 200) -> Self {
        let remediation =
            forms.isEmpty ? "" : #","remediation":{"type":"array","value":[\#(forms.joined(separator: ","))]}"#
        let handle = forms.isEmpty ? "" : #","stateHandle":"H","expiresAt":"2030-01-01T00:05:00Z""#
        return .status(
            status,
            ["content-type": "application/ion+json; okta-version=1.0.0"],
            body: #"{"version":"1.0.0"\#(handle)\#(remediation)\#(more.isEmpty ? "" : ",\(more)")}"#
        )
    }

    static var pipeline: Self { .answer(#"{"id":"00o1","pipeline":"idx"}"#) }
    static var interact: Self { .answer(#"{"interaction_handle":"IH"}"#) }

    /// The end of a flow: a code that is the nonce's place in the ID token of the next answer.
    static var interactionCode: Self {
        .ion(
            more:
                #""successWithInteractionCode":{"name":"issue","href":"https://example.okta.com/oauth2/v1/token","value":[{"name":"grant_type","value":"interaction_code"},{"name":"interaction_code","value":"IC"}]},"user":{"type":"object","value":{"id":"00u1","identifier":"ada@example.com"}}"#
        )
    }

    /// Tokens without an ID token: their scope asks for none.
    static var tokens: Self {
        .answer(#"{"access_token":"A1","refresh_token":"R1","expires_in":3600,"token_type":"Bearer"}"#)
    }
}

extension OktaBench {
    /// A bench on the identity engine; without `openid` no nonce has to come back.
    static func engine(
        _ steps: [Step],
        begins: Bool = true,
        _ change: (inout OktaConfiguration) -> Void = { _ in }
    ) throws -> OktaBench {
        var configuration = Ion.app
        configuration.app?.scope = "offline_access"
        configuration.way = .identityEngine
        change(&configuration)
        return try OktaBench((begins ? [.interact] : []) + steps, configuration: configuration, asksForPipeline: true)
    }

    /// Each step as its path below `/idp/idx` and its body without the state handle.
    var steps: [String] {
        transport.received.map { received in
            let path = (received.request.path ?? "").replacing("/idp/idx/", with: "")
            if path.hasPrefix("/oauth2") { return path }
            let body = received.text.replacing(#","stateHandle":"H""#, with: "").replacing(
                #""stateHandle":"H""#,
                with: ""
            )
            .replacing("\"", with: "")
            return body.isEmpty || body == "{}" ? path : "\(path) \(body)"
        }
    }
}
