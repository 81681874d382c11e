import HTTPRecovery

/// What a code of Facebook's means.
enum FacebookErrorRule {
    /// A limit, of the scope.
    case limit(Outcome.Scope)
    /// A limit that holds for hours or days, of the scope.
    case longLimit(Outcome.Scope)
    /// The token is refused.
    case refused
    /// The same whatever was presented; the server has not done what was asked for.
    case plain(Outcome.Kind, [Outcome.Remedy], scope: Outcome.Scope = .endpoint)
    /// The person has to settle something at Facebook.
    case settledAtFacebook
    /// A general error of the server, which may have done what was asked for.
    case serverError
    /// A chunk of an upload was not accepted.
    case chunkFailed
    /// What was to be published could not be prepared; as long as it is only prepared, nothing was published.
    case preparationFailed

    /// The codes of limits.
    static func limit(_ code: Int?) -> FacebookErrorRule? {
        guard let code else { return nil }
        if let meaning = limits[code] { return meaning }
        // The business limits; new ones are added to the row.
        return (80_000...80_099).contains(code) ? .limit(.endpoint) : nil
    }

    private static let limits: [Int: FacebookErrorRule] = [
        // For the app, the user, the page, whoever's token was presented.
        4: .limit(.app), 341: .limit(.app), 17: .limit(.credential), 9: .limit(.credential), 32: .limit(.endpoint),
        // Custom limits of an edge, and its inconsistent volume.
        613: .limit(.endpoint),
    ]

    /// What the codes of tokens say with a finer code.
    static func token(_ subcode: Int?) -> FacebookErrorRule {
        if settles(subcode) { return .settledAtFacebook }
        // The person of a page token has lost their role on the page.
        return subcode == 492 ? .plain(.permissionDenied, [.contactAdmin]) : .refused
    }

    /// Whether a finer code says, under any code, that the person has to settle something at Facebook; then the same
    /// token works again.
    static func settles(_ subcode: Int?) -> Bool {
        subcode == 459 || subcode == 464 || subcode == 490
    }

    /// The finer codes of the device login, under any code; elsewhere they mean nothing.
    static func device(_ subcode: Int?) -> FacebookErrorRule? {
        switch subcode {
        case 1_349_174: .plain(.challengePending, [.poll])
        case 1_349_172: .plain(.challengePending, [.wait, .poll])
        case 1_349_173: .plain(.declined, [])
        case 1_349_152: .plain(.flowExpired, [.restartFlow])
        default: nil
        }
    }

    /// The time that a finer code of the device login stands for: whoever asks too fast waits as long as between two
    /// questions, at the least.
    static func deviceDelay(_ subcode: Int?) -> Duration? {
        subcode == 1_349_172 ? .seconds(5) : nil
    }

    /// The codes of missing permissions and of policies.
    static func permission(_ code: Int?) -> FacebookErrorRule? {
        switch code {
        // What the app is not allowed to; nobody who signs in again changes that.
        case 3, 270: .plain(.permissionDenied, [.contactAdmin])
        case 10: .plain(.permissionDenied, [.reauthenticate, .contactAdmin])
        case 368: .plain(.policyBlocked, [])
        case .some(200...299): .plain(.permissionDenied, [.reauthenticate, .contactAdmin])
        default: nil
        }
    }

    /// The finer codes and codes of uploads.
    ///
    /// - Parameter isFinal: Whether the server refuses for good and tells the person why.
    static func upload(_ code: Int?, _ subcode: Int?, isFinal: Bool) -> FacebookErrorRule? {
        if let meaning = subcode.flatMap({ uploads[$0] }) { return meaning }
        return !isFinal && (code == 6000 || code == 6001) ? .chunkFailed : nil
    }

    private static let uploads: [Int: FacebookErrorRule] = [
        1_363_019: .chunkFailed, 1_363_021: .chunkFailed, 1_363_030: .chunkFailed, 1_363_033: .chunkFailed,
        1_363_037: .chunkFailed,
        // The session is gone; the file is too small or too large; nothing may be uploaded there.
        1_363_041: .plain(.flowExpired, [.restartFlow]), 1_363_022: .plain(.invalidRequest, [.fixRequest]),
        1_363_023: .plain(.invalidRequest, [.fixRequest]),
        1_363_042: .plain(.permissionDenied, [.reauthenticate, .contactAdmin]),
    ]

    /// The codes of requests that have to change.
    static let requests: [Int: FacebookErrorRule] = [
        100: .plain(.invalidRequest, [.fixRequest]),
        101: .plain(.misconfigured, [.fixRequest], scope: .app),
        104: .plain(.misconfigured, [.fixRequest], scope: .app),
        191: .plain(.misconfigured, [.fixRequest], scope: .app),
        324: .plain(.invalidRequest, [.fixRequest]),
        506: .plain(.conflict, []),
        803: .plain(.notFound, [.fixRequest]),
        2500: .plain(.invalidRequest, [.fixRequest]),
        2635: .plain(.misconfigured, [.fixRequest], scope: .app),
        3018: .plain(.invalidRequest, [.fixRequest]),
        4201: .plain(.declined, []),
        1_609_005: .plain(.invalidRequest, [.fixRequest]),
    ]
}
