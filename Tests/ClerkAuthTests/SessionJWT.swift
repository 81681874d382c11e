import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Session tokens as Clerk makes them.
enum SessionJWT {
    /// The wall time at which the manual clock starts.
    static let start: Int64 = 1_893_456_000

    static func of(_ number: Int, issuedAt: Int = 0, session: String = "sess_1", oiat: Int? = nil) -> String {
        let iat = start + Int64(issuedAt)
        let header = oiat.map { #"{"alg":"none","oiat":\#(start + Int64($0))}"# } ?? #"{"alg":"none"}"#
        let claims = #"{"sid":"\#(session)","n":\#(number),"iat":\#(iat),"exp":\#(iat + 60)}"#
        return "\(Token.base64(Array(header.utf8))).\(Token.base64(Array(claims.utf8))).c2ln"
    }

    static func body(_ number: Int, issuedAt: Int = 0, session: String = "sess_1", oiat: Int? = nil) -> String {
        #"{"object":"token","jwt":"\#(of(number, issuedAt: issuedAt, session: session, oiat: oiat))"}"#
    }

    /// A client whose session comes with a token.
    static func client(_ number: Int, issuedAt: Int = 0) -> String {
        """
        {"response":{"object":"client","id":"client_1","sessions":[{"object":"session","id":"sess_1",\
        "status":"active","last_active_token":\(body(number, issuedAt: issuedAt))}],\
        "last_active_session_id":"sess_1"},"client":null}
        """
    }
}

extension ScriptedTransport.Step {
    /// A session token.
    static func token(
        _ number: Int,
        issuedAt: Int = 0,
        oiat: Int? = nil,
        fields: [String: String] = [:]
    ) -> ScriptedTransport.Step {
        .status(200, fields, body: SessionJWT.body(number, issuedAt: issuedAt, oiat: oiat))
    }
}
