@testable import AuthSandbox

extension AuthSandbox {
    /// Whatever opens something at Okta now: state tokens, session tokens, sessions, recovery links, codes and tokens.
    var oktaSecrets: [String] {
        withWorld { world in
            let okta = world.okta
            let states: [String] = Array(okta.transactions.keys)
            let oneTime: [String] = Array(okta.sessionTokens.keys) + Array(okta.recoveryTokens.keys)
            let sessions: [String] = Array(okta.sessions.keys)
            let tokens: [String] = Array(world.oauth.accessTokens.keys) + Array(world.oauth.refreshTokens.keys)
            return states + oneTime + sessions + tokens + Array(world.oauth.codes.keys)
        }
    }
}
