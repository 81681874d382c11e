import HTTPRecovery

/// The error codes of Okta's that mean the same at every step, and what they mean for recovery.
///
/// A code that stands in neither this table nor ``OktaErrorRule`` leaves the decision to the status.
enum OktaCodes {
    static let table: [String: OktaErrorRule] = Dictionary(
        rows.flatMap { row in row.codes.map { (code($0), row.meaning) } },
        uniquingKeysWith: { first, _ in first }
    )

    /// The code with a number, as Okta writes it.
    static func code(_ number: Int) -> String {
        "E" + number.padded(to: 7)
    }

    private typealias Row = (codes: [Int], meaning: OktaErrorRule)

    private static let rows: [Row] = requestRows + sessionRows + passwordRows + factorRows + limitRows + serverRows

    private static let requestRows: [Row] = [
        ([2, 3, 12, 18, 19, 20, 21, 22, 122, 149], OktaErrorRule(.invalidRequest, [.fixRequest])),
        // The app, or the page it runs on, is not registered.
        ([13, 212], OktaErrorRule(.misconfigured, [.fixRequest], scope: .app)),
        ([8, 48], OktaErrorRule(.notFound)),
        ([6, 15, 23, 36, 57, 84], OktaErrorRule(.permissionDenied, [.contactAdmin])),
        ([58, 92], OktaErrorRule(.stepUpRequired, [.stepUp])),
        // There is nothing left to do.
        ([16], OktaErrorRule(.conflict)),
    ]

    private static let sessionRows: [Row] = [
        ([5], .refused(.session)),
        ([207], OktaErrorRule(.invalidCredentials, [.askUser])),
        ([85], OktaErrorRule(.policyBlocked)),
        ([79, 107], OktaErrorRule(.stateConflict, [.resync])),
        // Recovery was asked for somebody whom the org does not know.
        ([95], OktaErrorRule(.notFound)),
        ([32, 34, 35], OktaErrorRule(.permissionDenied, [.contactAdmin])),
        ([38, 155], OktaErrorRule(.accountBlocked, [.contactAdmin], scope: .account)),
        // Too many wrong codes: the transaction is over.
        ([69], OktaErrorRule(.accountLocked, [.unlock, .contactAdmin], scope: .account, clears: [.state])),
        ([119], OktaErrorRule(.accountLocked, [.contactAdmin], scope: .account)),
        ([105, 110], OktaErrorRule(.challengeExpired, [.restartFlow], clears: [.code])),
    ]

    private static let passwordRows: [Row] = [
        ([17, 80], OktaErrorRule(.passwordRejected, [.askUser])),
        ([64], OktaErrorRule(.passwordExpired, [.changePassword])),
    ]

    private static let factorRows: [Row] = [
        ([68, 87], OktaErrorRule(.challengeIncorrect, [.askUser])),
        // A code that was used, or belongs to another time: the next one comes by itself.
        ([82, 83], OktaErrorRule(.challengeIncorrect, [.askUser])),
        ([70], OktaErrorRule(.challengePending, [.poll])),
        ([73], OktaErrorRule(.declined)),
        ([97], OktaErrorRule(.factorUnavailable, [.askUser, .switchFactor], parameter: "phoneNumber")),
        ([98], OktaErrorRule(.invalidRequest, [.askUser], parameter: "phoneNumber")),
        ([121], OktaErrorRule(.invalidRequest, [.askUser], parameter: "phoneExtension")),
        ([99, 126, 140, 154, 180], OktaErrorRule(.factorUnavailable, [.switchFactor])),
        ([74, 138, 139], OktaErrorRule(.factorUnavailable, [.switchFactor])),
        // What is wanted stands in the text: an RSA token's new PIN.
        ([113], OktaErrorRule(.userActionRequired, [.askUser])),
        ([191], OktaErrorRule(.challengeExpired, [.newChallenge, .restartFlow])),
    ]

    private static let limitRows: [Row] = [
        ([47], OktaErrorRule(.rateLimited, [.wait], scope: .origin)),
        // A text was just sent, a call just made; the person may still enter that code.
        ([109, 133], OktaErrorRule(.rateLimited, [.wait, .askUser], delay: .seconds(30))),
        ([118], OktaErrorRule(.rateLimited, [.wait, .askUser], delay: .seconds(5))),
        // The org's own limits of 24 hours and 30 days: nothing that the request could do helps.
        ([146, 147, 186], OktaErrorRule(.quotaExhausted)),
        ([150, 151, 204, 205], OktaErrorRule(.rateLimited, [.switchFactor, .wait])),
    ]

    private static let serverRows: [Row] = [
        ([9, 181], OktaErrorRule(.unavailable, [.retry])),
        ([10, 239], OktaErrorRule(.unavailable, [.wait, .retry])),
        // An inline hook or a directory agent.
        ([134, 137, 240, 241], OktaErrorRule(.unavailable, [.retry])),
        // The factor may have been verified all the same.
        ([67], OktaErrorRule(.unavailable, [.resync, .askUser])),
        ([112], OktaErrorRule(.conflict, [.retry])),
    ]
}
