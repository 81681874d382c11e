import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The address at which a browser came back from the login dialog.
struct FacebookRedirect {
    private let answer: OAuthClient.AuthorizationRedirect
    private let fields: FormFields

    init(url: Secret) {
        var text = url.reveal()
        // What Facebook puts behind an address without a fragment.
        if text.hasSuffix("#_=_") { text.removeLast(4) }
        answer = OAuthClient.AuthorizationRedirect(url: text)
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
        var fields = FormFields(parsing: (query ?? "").utf8)
        if parts.count > 1 { fields.add(FormFields(parsing: parts[1].utf8)) }
        self.fields = fields
    }

    /// What was said about each permission; nil if that is not told.
    var permissions: [FacebookPermission]? {
        let lists = [("granted_scopes", FacebookPermission.Status.granted), ("denied_scopes", .declined)]
        guard lists.contains(where: { value($0.0) != nil }) else { return nil }
        return lists.flatMap { name, status in
            let names = (value(name) ?? "").split { $0 == "," || $0 == " " }.prefix(1024)
            return names.map { FacebookPermission(name: String($0).bounded(to: 128), status: status) }
        }
    }

    private func value(_ name: String) -> String? { fields[name].first?.reveal() }

    /// The code, once it is known that the address answers the request.
    ///
    /// - Parameters:
    ///   - request: What the person was sent out with.
    ///   - classifier: Judges an error as one of Graph's.
    ///   - now: The time.
    func code(
        for request: OAuthClient.AuthorizationRequest,
        judgedBy classifier: FacebookClassifier,
        at now: Timestamp
    ) throws(RecoveryError) -> Secret {
        do throws(RecoveryError) {
            _ = try request.grant(for: answer)
            if let code = answer.code { return code }
        } catch {
            guard error.outcome.parameter == "state" else { throw refusal(judgedBy: classifier, at: now) }
            // Whoever can make up an address must not end a sign-in.
            var error = error
            error.outcome.remedies = [.askUser, .restartFlow]
            throw error
        }
        throw refusal(judgedBy: classifier, at: now)
    }

    /// What the dialog has refused.
    private func refusal(judgedBy classifier: FacebookClassifier, at now: Timestamp) -> RecoveryError {
        let outcome = refusal(judgedBy: classifier, at: now) ?? Outcome(.unreadable, processed: .yes)
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }

    /// What the address says that the dialog has refused; nil if it says nothing of the sort.
    ///
    /// It answers no request yet: that its state tells.
    func refusal(judgedBy classifier: FacebookClassifier, at now: Timestamp) -> Outcome? {
        let (code, reason, word) = (value("error_code"), value("error_reason"), value("error"))
        let isDenial = word == "access_denied" && (code ?? "200") == "200" && (reason ?? "user_denied") == "user_denied"
        var members: [JSONValue.Member] = []
        // A denial for another reason than the person's no is what its code says.
        if let word, isDenial || code == nil { members.append(.init("error", .string(word))) }
        if !isDenial, let code { members.append(.init("error_code", .string(code))) }
        guard !members.isEmpty else { return nil }
        if let text = value("error_message") ?? value("error_description") {
            members.append(.init("error_message", .string(text)))
            members.append(.init("error_description", .string(text)))
        }
        var outcome = classifier.classify(
            Exchange(
                method: .get,
                path: "/dialog/oauth",
                presented: nil,
                result: .response(
                    HTTPResponse(status: .badRequest),
                    body: Array(JSONValue.object(members).description.utf8)
                ),
                now: now
            )
        )
        (outcome.status, outcome.processed) = (nil, .no)
        switch outcome.kind {
        // The address to come back to, or a setting of the app's.
        case .invalidRequest where outcome.code == "100":
            (outcome.kind, outcome.scope) = (.misconfigured, .app)
        case .unavailable: outcome.remedies = [.restartFlow]
        case .unknown: outcome.statusType = FacebookLoginDialog.name
        default: break
        }
        return outcome
    }
}
