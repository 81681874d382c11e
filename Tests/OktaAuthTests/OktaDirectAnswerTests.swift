import HTTPRecovery
import HTTPTypes
import OktaAuth
import Testing

/// What Direct Authentication's answers mean: its errors by their texts, its challenges by how they are answered.
@Suite("What Direct Authentication's answers mean")
struct OktaDirectAnswerTests {
    private static func row(
        _ status: Int,
        _ word: String,
        _ text: String,
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        _ action: Outcome.TokenAction = .keep,
        presenting presented: Outcome.CredentialKind? = .state,
        at path: String = "/oauth2/default/v1/token",
        more: String = "",
        _ credential: Outcome.CredentialKind? = nil
    ) -> Row {
        let recorded = Recorded(
            status: status,
            body: #"{"error":"\#(word)","error_description":"\#(text)"\#(more)}"#,
            presented: presented,
            path: path
        )
        return Row(
            "\(status) \(word) \(text) \(presented?.rawValue ?? "none")",
            recorded,
            kind,
            remedies,
            action,
            credential
        )
    }

    private static let challenge = "/oauth2/v1/challenge"
    private static let first = "/oauth2/v1/primary-authenticate"

    private static func envelope(
        _ code: String,
        _ status: Int,
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy],
        _ action: Outcome.TokenAction = .keep
    ) -> Row {
        let recorded = Recorded(status: status, body: Recorded.error(code), path: "/oauth2/v1/token")
        return Row("\(status) \(code)", recorded, kind, remedies, action)
    }

    /// These endpoints have Okta's own envelope at times.
    static let envelopes: [Row] = [
        envelope("E0000047", 429, .rateLimited, [.wait]),
        envelope("E0000011", 401, .flowExpired, [.restartFlow], .clear),
        envelope("invalid_client", 401, .misconfigured, [.fixRequest]),
    ]

    @Test(arguments: envelopes)
    func anEnvelopeIsReadToo(row: Row) { _ = row.check() }

    static let errors: [Row] = [
        row(
            400,
            "invalid_grant",
            "The credentials provided were invalid.",
            .invalidCredentials,
            [.askUser],
            presenting: nil
        ),
        row(
            400,
            "invalid_grant",
            "The password has expired.",
            .passwordExpired,
            [.changePassword, .visitProvider],
            presenting: nil
        ),
        row(
            403,
            "access_denied",
            "The user's password is expired.",
            .passwordExpired,
            [.changePassword, .visitProvider],
            presenting: nil
        ),
        row(400, "invalid_grant", "The 'otp' provided was incorrect.", .challengeIncorrect, [.askUser]),
        row(400, "invalid_otp", "", .challengeIncorrect, [.askUser]),
        row(400, "invalid_grant", "The user rejected the out-of-band authentication.", .declined, [.switchFactor]),
        row(400, "oob_rejected", "", .declined, [.switchFactor]),
        row(
            400,
            "invalid_grant",
            "The login_hint does not uniquely identify a user.",
            .invalidCredentials,
            [.askUser],
            presenting: nil
        ),
        row(400, "invalid_grant", "There is no pending WebAuthn challenge.", .challengeExpired, [.newChallenge]),
        row(
            400,
            "invalid_grant",
            "We were not able to validate the assertion.",
            .challengeIncorrect,
            [.newChallenge, .switchFactor]
        ),
        row(
            400,
            "invalid_grant",
            "This grant cannot be used with MFA.",
            .permissionDenied,
            [.contactAdmin],
            presenting: nil
        ),
        row(
            400,
            "invalid_grant",
            "Resource owner password credentials authentication denied by sign on policy.",
            .permissionDenied,
            [.contactAdmin],
            presenting: nil
        ),
        row(
            400,
            "invalid_grant",
            "The user does not configure a password.",
            .factorUnavailable,
            [.switchFactor],
            presenting: nil
        ),
        row(
            400,
            "invalid_grant",
            "The user has multiple passwords.",
            .factorUnavailable,
            [.switchFactor],
            presenting: nil
        ),
        row(429, "invalid_grant", "API call exceeded rate limit.", .rateLimited, [.wait], presenting: nil),
        row(400, "authorization_pending", "", .challengePending, [.poll]),
        row(400, "direct_auth_authorization_pending", "", .challengePending, [.poll]),
        row(400, "slow_down", "", .challengePending, [.poll]),
        row(403, "access_denied", "The 'mfa_token' has expired.", .flowExpired, [.restartFlow], .clear),
        row(403, "access_denied", "The 'oob_code' has expired.", .challengeExpired, [.newChallenge]),
        row(403, "access_denied", "The authentication policy wasn't satisfied.", .permissionDenied, [.contactAdmin]),
        row(403, "access_denied", "Blocked by a network zone.", .permissionDenied, [.contactAdmin], presenting: nil),
        row(403, "access_denied", "A lite user cannot sign in.", .permissionDenied, [.contactAdmin], presenting: nil),
        row(
            403,
            "access_denied",
            "The required authenticator cannot be used.",
            .factorUnavailable,
            [.switchFactor, .contactAdmin]
        ),
        row(
            403,
            "access_denied",
            "Unable to prompt for the requested factor.",
            .factorUnavailable,
            [.switchFactor, .contactAdmin],
            at: challenge
        ),
        row(
            403,
            "access_denied",
            "There are no supported authenticators.",
            .factorUnavailable,
            [.switchFactor, .contactAdmin]
        ),
        row(
            403,
            "access_denied",
            "The grant_types_supported are not sufficient.",
            .misconfigured,
            [.fixRequest],
            presenting: nil
        ),
        row(
            403,
            "access_denied",
            "The grant types are disabled for the client.",
            .misconfigured,
            [.fixRequest],
            presenting: nil
        ),
        row(
            403,
            "access_denied",
            "Password recovery is not enabled.",
            .permissionDenied,
            [.contactAdmin],
            presenting: nil
        ),
        row(
            403,
            "access_denied",
            "The recovery policies have no authenticator.",
            .permissionDenied,
            [.contactAdmin],
            presenting: nil
        ),
        row(403, "access_denied", "The authenticators are not enabled.", .permissionDenied, [.contactAdmin]),
        row(403, "access_denied", "Text of tomorrow.", .permissionDenied, [.contactAdmin]),
        row(403, "access_denied", "Text of tomorrow.", .permissionDenied, [.contactAdmin], presenting: nil),
        row(400, "access_denied", "", .permissionDenied, [.contactAdmin], presenting: .refresh),
        row(400, "access_denied", "", .declined, [], .clear, presenting: .device),
        row(
            400,
            "invalid_request",
            "The oob_code and the mfa_token are not associated with each other.",
            .invalidRequest,
            [.fixRequest, .restartFlow]
        ),
        row(
            400,
            "invalid_request",
            "The challenge and the mfa_token are not associated with each other.",
            .invalidRequest,
            [.fixRequest, .restartFlow]
        ),
        row(400, "invalid_request", "The acr_values differ.", .invalidRequest, [.fixRequest]),
        row(400, "invalid_request", "The 'intent' differs.", .invalidRequest, [.fixRequest]),
        row(400, "invalid_request", "The authorization server differs.", .invalidRequest, [.fixRequest]),
        row(400, "invalid_request", "The channel_hint is not known.", .invalidRequest, [.fixRequest], at: challenge),
        row(400, "invalid_request", "The challenge_hint is not known.", .invalidRequest, [.fixRequest], at: first),
        row(400, "invalid_request", "The challenge_type is not known.", .invalidRequest, [.fixRequest], at: challenge),
        row(
            400,
            "invalid_request",
            "The 'login_hint' is missing.",
            .invalidRequest,
            [.fixRequest],
            presenting: nil,
            at: first
        ),
        row(400, "invalid_scope", "The scope differs.", .invalidRequest, [.fixRequest]),
        row(401, "invalid_client", "The client_id differs.", .misconfigured, [.fixRequest]),
        row(400, "unauthorized_client", "", .misconfigured, [.fixRequest, .contactAdmin], presenting: nil),
        row(400, "unsupported_grant_type", "", .misconfigured, [.fixRequest, .contactAdmin], presenting: nil),
        row(400, "consent_required", "", .misconfigured, [.fixRequest, .contactAdmin], presenting: nil),
        row(400, "interaction_required", "", .misconfigured, [.fixRequest], presenting: nil),
        row(
            500,
            "server_error",
            "Failed to initiate out-of-band authentication.",
            .unavailable,
            [.switchFactor, .newChallenge],
            at: challenge
        ),
        // A text that nobody knows.
        row(400, "invalid_grant", "?", .invalidCredentials, [.askUser], presenting: nil),
        row(400, "invalid_grant", "?", .challengeIncorrect, [.askUser]),
        row(400, "invalid_grant", "?", .credentialRejected, [.restartFlow], .clear, presenting: .code, .code),
        row(
            400,
            "invalid_grant",
            "The refresh token is invalid or expired.",
            .credentialRejected,
            [.reauthenticate],
            .clear,
            presenting: .refresh,
            .refresh
        ),
        row(400, "invalid_grant", "", .credentialRejected, [.reauthenticate], .clear, presenting: .refresh, .refresh),
        // Of a key that does not fit, and of whatever else: the token may be good.
        row(400, "invalid_grant", "?", .credentialRejected, [.reauthenticate], presenting: .refresh, .refresh),
        row(
            400,
            "invalid_grant",
            "The assurance requirements cannot be met.",
            .permissionDenied,
            [.contactAdmin],
            presenting: .code
        ),
        // The password was right.
        row(
            403,
            "mfa_required",
            "",
            .continue,
            [.switchFactor, .askUser],
            presenting: nil,
            more: #","mfa_token":"fwA1""#
        ),
        row(
            400,
            "mfa_required",
            "",
            .continue,
            [.switchFactor, .askUser],
            presenting: nil,
            more: #","mfa_token":"fwA1""#
        ),
        row(403, "mfa_required", "", .unreadable, presenting: nil),
        // A renewal does not go on: somebody has to sign in.
        row(403, "mfa_required", "", .stepUpRequired, [.stepUp], presenting: .refresh, more: #","mfa_token":"fwA1""#),
        // The grant is off.
        row(400, "access_denied", "", .misconfigured, [.fixRequest], presenting: nil, at: "/oauth2/v1/interact"),
        row(400, "unauthorized_client", "", .misconfigured, [.fixRequest], presenting: nil, at: "/oauth2/v1/interact"),
        row(400, "invalid_request", "", .invalidRequest, [.fixRequest], presenting: nil, at: "/oauth2/v1/interact"),
    ]

    @Test(arguments: errors)
    func anErrorIsToldByItsText(row: Row) {
        let outcome = row.check()
        #expect(outcome.code.map(row.recorded.body.contains) ?? (row.kind == .unreadable))
    }

    static let challenges: [(String, Outcome.Kind, [Outcome.Remedy], Duration?)] = [
        (
            #"{"oob_code":"o","expires_in":300,"interval":5,"channel":"push","binding_method":"none"}"#, .continue,
            [.poll], .seconds(5)
        ),
        (
            #"{"oob_code":"o","expires_in":300,"interval":5,"channel":"push","binding_method":"transfer","binding_code":"41"}"#,
            .continue, [.poll], .seconds(5)
        ),
        // A number that nobody is told cannot be chosen.
        (#"{"oob_code":"o","interval":5,"channel":"push","binding_method":"transfer"}"#, .unreadable, [], nil),
        (#"{"oob_code":"o","expires_in":300,"channel":"sms","binding_method":"prompt"}"#, .continue, [.askUser], nil),
        (#"{"expires_in":300,"channel":"sms","binding_method":"prompt"}"#, .unreadable, [], nil),
        (#"{"challenge_type":"http://auth0.com/oauth/grant-type/mfa-otp"}"#, .continue, [.askUser], nil),
        (#"{"challengeType":"x","publicKey":{"challenge":"c"}}"#, .continue, [.askUser], nil),
    ]

    @Test(arguments: challenges.indices, ["challenge", "primary-authenticate", "oob-authenticate"])
    func aChallengeIsWaitedForOrAnswered(index: Int, endpoint: String) {
        let (body, kind, remedies, delay) = Self.challenges[index]
        let outcome = Recorded(status: 200, body: body, path: "/oauth2/v1/\(endpoint)").outcome
        #expect(outcome.kind == kind && outcome.remedies == remedies && outcome.retryAfter == delay, "\(body)")
        #expect(outcome.tokenAction == .keep)
    }

    @Test func anInteractionHasBegun() {
        let begun = Recorded(
            status: 200,
            body: #"{"interaction_handle":"h"}"#,
            presented: nil,
            path: "/oauth2/v1/interact"
        )
        #expect(begun.outcome.kind == .continue)
        let empty = Recorded(status: 200, body: "{}", presented: nil, path: "/oauth2/v1/interact")
        #expect(empty.outcome.kind == .unreadable)
    }
}
