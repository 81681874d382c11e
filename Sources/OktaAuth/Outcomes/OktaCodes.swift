import HTTPRecovery

/// The error codes of Okta's that mean the same at every step, and what they mean for recovery.
///
/// A code that stands in neither this table nor ``OktaMeaning`` leaves the decision to the status.
enum OktaCodes {
    static let table: [String: OktaMeaning] = Dictionary(
        rows.flatMap { row in row.codes.map { (code($0), row.meaning) } },
        uniquingKeysWith: { first, _ in first }
    )

    /// The code with a number, as Okta writes it.
    static func code(_ number: Int) -> String {
        "E" + number.padded(to: 7)
    }

    private typealias Row = (codes: [Int], meaning: OktaMeaning)

    private static let rows: [Row] = requestRows + sessionRows + passwordRows + factorRows + limitRows + serverRows

    private static let requestRows: [Row] = [
        ([2, 3, 12, 18, 19, 20, 21, 22, 122, 149], OktaMeaning(.invalidRequest, [.fixRequest])),
        // The app, or the page it runs on, is not registered.
        ([13, 212], OktaMeaning(.misconfigured, [.fixRequest], scope: .app)),
        ([8, 48], OktaMeaning(.notFound)),
        ([6, 15, 23, 36, 57, 84], OktaMeaning(.permissionDenied, [.contactAdmin])),
        ([58, 92], OktaMeaning(.stepUpRequired, [.stepUp])),
        // There is nothing left to do.
        ([16], OktaMeaning(.conflict)),
    ]

    private static let sessionRows: [Row] = [
        ([5], .refused(.session)),
        ([207], OktaMeaning(.invalidCredentials, [.askUser])),
        ([85], OktaMeaning(.policyBlocked)),
        ([79, 107], OktaMeaning(.stateConflict, [.resync])),
        // Recovery was asked for somebody whom the org does not know.
        ([95], OktaMeaning(.notFound)),
        ([32, 34, 35], OktaMeaning(.permissionDenied, [.contactAdmin])),
        ([38, 155], OktaMeaning(.accountBlocked, [.contactAdmin], scope: .account)),
        // Too many wrong codes: the transaction is over.
        ([69], OktaMeaning(.accountLocked, [.unlock, .contactAdmin], scope: .account, clears: [.state])),
        ([119], OktaMeaning(.accountLocked, [.contactAdmin], scope: .account)),
        ([105, 110], OktaMeaning(.challengeExpired, [.restartFlow], clears: [.code])),
    ]

    private static let passwordRows: [Row] = [
        ([17, 80], OktaMeaning(.passwordRejected, [.askUser])),
        ([64], OktaMeaning(.passwordExpired, [.changePassword])),
    ]

    private static let factorRows: [Row] = [
        ([68, 87], OktaMeaning(.challengeIncorrect, [.askUser])),
        // A code that was used, or belongs to another time: the next one comes by itself.
        ([82, 83], OktaMeaning(.challengeIncorrect, [.askUser])),
        ([70], OktaMeaning(.challengePending, [.poll])),
        ([73], OktaMeaning(.declined)),
        ([97], OktaMeaning(.factorUnavailable, [.askUser, .switchFactor], parameter: "phoneNumber")),
        ([98], OktaMeaning(.invalidRequest, [.askUser], parameter: "phoneNumber")),
        ([121], OktaMeaning(.invalidRequest, [.askUser], parameter: "phoneExtension")),
        ([99, 126, 140, 154, 180], OktaMeaning(.factorUnavailable, [.switchFactor])),
        ([74, 138, 139], OktaMeaning(.factorUnavailable, [.switchFactor])),
        // What is wanted stands in the text: an RSA token's new PIN.
        ([113], OktaMeaning(.userActionRequired, [.askUser])),
        ([191], OktaMeaning(.challengeExpired, [.newChallenge, .restartFlow])),
    ]

    private static let limitRows: [Row] = [
        ([47], OktaMeaning(.rateLimited, [.wait], scope: .origin)),
        // A text was just sent, a call just made; the person may still enter that code.
        ([109, 133], OktaMeaning(.rateLimited, [.wait, .askUser], delay: .seconds(30))),
        ([118], OktaMeaning(.rateLimited, [.wait, .askUser], delay: .seconds(5))),
        // The org's own limits of 24 hours and 30 days.
        ([146, 147, 186], OktaMeaning(.quotaExhausted, [.switchFactor])),
        ([150, 151, 204, 205], OktaMeaning(.rateLimited, [.switchFactor, .wait])),
    ]

    private static let serverRows: [Row] = [
        ([9, 181], OktaMeaning(.unavailable, [.retry])),
        ([10, 239], OktaMeaning(.unavailable, [.wait, .retry])),
        // An inline hook or a directory agent.
        ([134, 137, 240, 241], OktaMeaning(.unavailable, [.retry])),
        // The factor may have been verified all the same.
        ([67], OktaMeaning(.unavailable, [.resync, .askUser])),
        ([112], OktaMeaning(.conflict, [.retry])),
    ]
}
