import ForgeRockAuth
import HTTPRecovery
import HTTPTypes
import Testing

/// One row of the documentation of PingAM's errors.
struct ErrorRow: Sendable, CustomTestStringConvertible {
    var status: Int
    var message: String
    var number: String?
    var kind: Outcome.Kind
    var remedies: [Outcome.Remedy]
    var path = Exchanged.authenticate
    var presented: Outcome.CredentialKind? = .state
    var token: Outcome.TokenAction = .keep
    var credential: Outcome.CredentialKind?
    var parameter: String?

    var testDescription: String { "\(status) \(message) \(number ?? "")" }
}

extension Exchanged {
    static let authenticate = "/am/json/realms/root/realms/alpha/authenticate"
}

@Suite("PingAM's errors, row by row")
struct ForgeRockCodeTests {
    static let refusals: [ErrorRow] = ["103", "107", nil].flatMap { number in
        [
            "Login failure", "Authentication Failed", "Invalid Password!!", "Échec de la connexion",
            "Warning: You will be locked out after 1 more failure(s).",
        ].map {
            ErrorRow(
                status: 401,
                message: $0,
                number: number.map { "\"\($0)\"" },
                kind: .invalidCredentials,
                remedies: [.restartFlow, .askUser],
                token: .clear
            )
        }
    }

    static let accounts: [ErrorRow] =
        [("Your account has been locked.", "112"), ("User Locked Out.", "112"), ("x", "123")].flatMap { text, number in
            [
                ErrorRow(
                    status: 401,
                    message: text,
                    number: number,
                    kind: .accountLocked,
                    remedies: [.contactAdmin],
                    token: .clear
                )
            ]
        }
        + [("User not Active", "104"), ("User Account Expired!!", "101"), ("x", "113")].map { text, number in
            ErrorRow(
                status: 401,
                message: text,
                number: number,
                kind: .accountBlocked,
                remedies: [.contactAdmin],
                token: .clear
            )
        }
        + [
            ErrorRow(
                status: 401,
                message: "Your account has been locked.",
                kind: .accountLocked,
                remedies: [.contactAdmin],
                token: .clear
            ),
            ErrorRow(
                status: 401,
                message: "You have reached your session limit.",
                number: "\"115\"",
                kind: .quotaExhausted,
                remedies: [.visitProvider],
                token: .clear
            ),
        ]

    static let expiries: [ErrorRow] = [
        (401, "Session has timed out", "\"110\""), (401, "x", "110"), (401, "Session has timed out", nil),
        (400, "Authentication Error: Authentication timeout.", nil),
        (408, "Authentication Error: Authentication timeout.", nil), (408, "x", nil), (408, "x", "\"110\""),
        (401, "org.forgerock.openam.auth.nodes.SuspendedAuthSessionException: gone", nil),
        (400, "AuthId JWT Signature not valid", nil), (400, "Failed to parse JWT, x", nil),
    ].map { status, message, number in
        ErrorRow(
            status: status,
            message: message,
            number: number,
            kind: .flowExpired,
            remedies: [.restartFlow],
            token: .clear
        )
    }

    static let sessions: [ErrorRow] = [
        Exchanged.sessions, Exchanged.users, "/json/realms/root/selfservice/userRegistration", "/json/users/ada",
    ].flatMap { path in
        [
            ErrorRow(
                status: 401,
                message: "Access Denied",
                kind: .credentialRejected,
                remedies: [.reauthenticate],
                path: path,
                presented: .session,
                token: .clear,
                credential: .session
            ),
            ErrorRow(
                status: 401,
                message: "Accès refusé",
                kind: .credentialRejected,
                remedies: [.reauthenticate],
                path: path,
                presented: nil,
                credential: .session
            ),
            ErrorRow(
                status: 401,
                message: "Access Denied",
                kind: .credentialRejected,
                remedies: [.refreshCredential, .reauthenticate],
                path: path,
                presented: .access,
                token: .clear,
                credential: .access
            ),
            ErrorRow(
                status: 403,
                message: "Forbidden",
                kind: .permissionDenied,
                remedies: [.contactAdmin],
                path: path,
                presented: .session
            ),
            ErrorRow(
                status: 403,
                message: "User not permitted.",
                kind: .permissionDenied,
                remedies: [.contactAdmin],
                path: path,
                presented: .session
            ),
            ErrorRow(
                status: 403,
                message: "Permission to perform the read operation denied to id=ada",
                kind: .permissionDenied,
                remedies: [.contactAdmin],
                path: path,
                presented: .session
            ),
            ErrorRow(
                status: 404,
                message: "Resource cannot be found.",
                kind: .notFound,
                remedies: [],
                path: path,
                presented: .session
            ),
            ErrorRow(
                status: 409,
                message: "Multiple users found",
                kind: .conflict,
                remedies: [],
                path: path,
                presented: .session
            ),
            ErrorRow(
                status: 410,
                message: "Token not found",
                kind: .notFound,
                remedies: [],
                path: path,
                presented: .session
            ),
            ErrorRow(
                status: 415,
                message: "x",
                kind: .invalidRequest,
                remedies: [.fixRequest],
                path: path,
                presented: .session
            ),
            ErrorRow(
                status: 501,
                message: "x",
                kind: .misconfigured,
                remedies: [.fixRequest],
                path: path,
                presented: .session
            ),
            ErrorRow(
                status: 408,
                message: "x",
                kind: .unavailable,
                remedies: [.retry],
                path: path,
                presented: .session
            ),
        ]
    }

    static let setUp: [ErrorRow] =
        ["105", "108", "109", "111", "114", "116", "119", "122", "124"].map {
            ErrorRow(
                status: 400,
                message: "x",
                number: "\"\($0)\"",
                kind: .misconfigured,
                remedies: [.fixRequest],
                token: .clear
            )
        } + [
            ErrorRow(
                status: 404,
                message: "x",
                number: "126",
                kind: .misconfigured,
                remedies: [.fixRequest],
                token: .clear
            ),
            ErrorRow(
                status: 400,
                message: "No Configuration found",
                kind: .misconfigured,
                remedies: [.fixRequest],
                token: .clear
            ),
            ErrorRow(
                status: 400,
                message: "Invalid realm, beta",
                kind: .misconfigured,
                remedies: [.fixRequest],
                presented: nil,
                parameter: "realm"
            ),
            ErrorRow(
                status: 404,
                message: "Invalid realm, beta",
                kind: .misconfigured,
                remedies: [.fixRequest],
                path: Exchanged.users,
                presented: nil,
                parameter: "realm"
            ),
        ]
        + [
            (400, "Accept-API-Version header missing"), (404, "Accept-API-Version names no version"), (406, "x"),
        ].map { status, message in
            ErrorRow(
                status: status,
                message: message,
                kind: .invalidRequest,
                remedies: [.fixRequest],
                parameter: "Accept-API-Version"
            )
        }
        + [ErrorRow(status: 400, message: "Bad Request", kind: .invalidRequest, remedies: [.fixRequest])]

    static let outages: [ErrorRow] = [
        ErrorRow(
            status: 500,
            message: "Authentication Error!!",
            number: "\"102\"",
            kind: .unavailable,
            remedies: [.restartFlow]
        ),
        ErrorRow(
            status: 500,
            message: "Can not create new session.",
            number: "118",
            kind: .unavailable,
            remedies: [.restartFlow]
        ),
        ErrorRow(
            status: 500,
            message: "Authentication Error!!",
            kind: .unavailable,
            remedies: [.retry],
            presented: nil
        ),
        ErrorRow(status: 500, message: "x", kind: .unavailable, remedies: [.retry]),
        ErrorRow(status: 503, message: "Forgot password is not accessible.", kind: .unavailable, remedies: [.retry]),
        ErrorRow(
            status: 500,
            message: "Login failure",
            number: "107",
            kind: .unavailable,
            remedies: [.retry]
        ),
    ]

    @Test(arguments: refusals + accounts + expiries + sessions + setUp + outages)
    func row(_ row: ErrorRow) {
        let body = Exchanged.error(row.status, row.message, number: row.number)
        let outcome = Exchanged(
            status: row.status,
            body: body,
            lines: [("X-ForgeRock-TransactionId", "t1")],
            presented: row.presented,
            path: row.path
        ).outcome
        #expect(outcome.kind == row.kind)
        #expect(outcome.remedies == row.remedies)
        #expect(outcome.tokenAction == row.token)
        #expect(outcome.credential == row.credential)
        #expect(outcome.parameter == row.parameter)
        #expect(outcome.code == String(row.status))
        #expect(outcome.subcode == row.number?.filter { $0 != "\"" })
        #expect(outcome.processed == (row.status < 500 ? .no : .unknown))
        #expect(outcome.traceID == "t1")
        #expect(outcome.status == row.status)
        #expect(outcome.message == row.message)
    }
}
