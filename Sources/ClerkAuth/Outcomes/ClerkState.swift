import AuthRecovery
import HTTPRecovery

/// Where a flow or a session stands, as a success tells it.
struct ClerkState {
    private let clerk: ClerkInterpretation
    private let content: ResponseContent

    init(_ clerk: ClerkInterpretation) {
        self.clerk = clerk
        self.content = clerk.interpretation.content
    }

    var outcome: Outcome {
        guard let body = content.json else { return withoutJSON }
        if clerk.endpoint.isTokens { return token(body) }
        if clerk.endpoint.isClient, !tellsClient(body) { return clerk.failure(.unreadable) }
        let resource = resource(in: body)
        if resource == nil, clerk.endpoint.isStep { return clerk.failure(.unreadable) }
        let status = resource?["status"]?.string
        let object = resource?["object"]?.string ?? ""
        var outcome: Outcome
        if let resource, object.hasPrefix("sign_in") || object == "session_verification" || isFlowStatus(status) {
            outcome = signIn(resource, status: status ?? "")
        } else if let resource, object.hasPrefix("sign_up") {
            outcome = signUp(resource, status: status ?? "")
        } else if let resource, object == "session" {
            outcome = session(resource, status: status ?? "")
        } else {
            return ok
        }
        outcome.statusType = status?.nonEmpty?.bounded(to: 256)
        if outcome.kind == .continue, let reason = resource.flatMap(transfer) {
            outcome.code = reason.code
            outcome.message = reason.message ?? reason.longMessage
        }
        return outcome
    }

    private var ok: Outcome {
        clerk.failure(.ok)
    }

    /// A success whose body is no JSON: not the API's answer, unless there is nothing to say.
    private var withoutJSON: Outcome {
        switch content {
        case .empty where clerk.endpoint.isTokens: clerk.failure(.unavailable, [.retry])
        case .empty where clerk.endpoint.isStep || clerk.endpoint.isClient: clerk.failure(.unreadable)
        case .empty: ok
        default: clerk.interpretation.isCut ? ok : clerk.failure(.unreadable)
        }
    }

    /// Whether it shows the client, or says that there is none.
    private func tellsClient(_ body: JSONValue) -> Bool {
        ClerkClient.find(in: body) != nil || body["response"]?.isNull == true
    }

    /// The resource that was asked for: `response`, or the whole if the answer is not wrapped.
    ///
    /// A step of a flow is told by something that says what it is or where it stands; else the client may show it.
    private func resource(in body: JSONValue) -> JSONValue? {
        if clerk.endpoint.isStep {
            let shown = body["client"]?[clerk.endpoint.isSignIn ? "sign_in" : "sign_up"]
            return [body["response"], body, clerk.endpoint.isFlow ? shown : nil].lazy.compactMap(\.self)
                .first { $0["object"]?.string != nil || $0["status"]?.string != nil }
        }
        if let response = body["response"] {
            if case .object = response { return response }
            return nil
        }
        return body["object"] == nil && body["status"] == nil ? nil : body
    }

    private func isFlowStatus(_ status: String?) -> Bool {
        status?.hasPrefix("needs_") == true
    }

    // MARK: Tokens

    /// A session token; without one the answer is a passing failure, never a sign-out (clerk-js).
    private func token(_ body: JSONValue) -> Outcome {
        guard let token = (body["jwt"] ?? body["response"]?["jwt"])?.string?.nonEmpty else {
            return clerk.failure(.unavailable, [.retry])
        }
        guard ClerkSessionToken.isPending(Secret(token)) else { return ok }
        var outcome = next([.askUser])
        outcome.statusType = ClerkSessionStatus.pending.rawValue
        return outcome
    }

    // MARK: Sign-in and sign-up

    private func signIn(_ signIn: JSONValue, status: String) -> Outcome {
        switch status {
        case "complete": return complete(signIn)
        case "abandoned": return clerk.failure(.flowExpired, [.restartFlow])
        default: break
        }
        if let held = protectCheck(in: signIn) { return held }
        let isSecond = status == "needs_second_factor" || status == "needs_client_trust"
        let verification = signIn[isSecond ? "second_factor_verification" : "first_factor_verification"]
        if let failure = failure(of: verification) { return failure }
        let isOpen = verification?["status"]?.string == "unverified"
        if isOpen, leadsElsewhere(verification) { return next([.visitProvider]) }
        let isPrepared = isOpen && verification?["strategy"]?.string != nil
        switch status {
        case "needs_identifier":
            return next([.askUser])
        case "needs_first_factor":
            return next(isPrepared ? [.askUser] : wants(signIn["supported_first_factors"], withoutCode: ["password"]))
        case "needs_second_factor", "needs_client_trust":
            let direct: Set<String> = ["totp", "backup_code"]
            return next(isPrepared ? [.askUser] : wants(signIn["supported_second_factors"], withoutCode: direct))
        case "needs_new_password":
            return next([.changePassword])
        default:
            // A status of a newer version: the flow is alive, what it wants is not known.
            return next([])
        }
    }

    private func signUp(_ signUp: JSONValue, status: String) -> Outcome {
        switch status {
        case "complete": return complete(signUp)
        case "abandoned": return clerk.failure(.flowExpired, [.restartFlow])
        default: break
        }
        if let held = protectCheck(in: signUp) { return held }
        for verification in signUp["verifications"]?.members?.prefix(16) ?? [] {
            if let failure = failure(of: verification.value) { return failure }
        }
        let account = signUp["verifications"]?["external_account"]
        if account?["status"]?.string == "unverified", leadsElsewhere(account) { return next([.visitProvider]) }
        if signUp["missing_fields"]?.array?.isEmpty == false { return next([.askUser]) }
        if signUp["unverified_fields"]?.array?.isEmpty == false { return next([.newChallenge, .askUser]) }
        return next(status == "missing_requirements" ? [.askUser] : [])
    }

    /// A proof against abuse that the flow waits for, whatever its status says.
    private func protectCheck(in flow: JSONValue) -> Outcome? {
        guard let check = ProtectCheck.pending(in: flow) else { return nil }
        var outcome = clerk.failure(.challengeRequired, [.solveChallenge])
        // As the error that says the same has it.
        if check.members?.isEmpty == false { outcome.details = ["protect_check": check] }
        return outcome
    }

    /// Why a proof belongs to the other flow, if Clerk says it.
    private func transfer(in resource: JSONValue) -> ClerkError? {
        let verifications = resource["verifications"]?.members?.prefix(16).map(\.value) ?? []
        for verification in verifications + [resource["first_factor_verification"] ?? .null]
        where isTransferable(verification) {
            if let error = verification["error"].flatMap(ClerkError.init) { return error }
        }
        return nil
    }

    /// Whether it is made at another provider's page.
    private func leadsElsewhere(_ verification: JSONValue?) -> Bool {
        verification?["external_verification_redirect_url"]?.string?.nonEmpty != nil
    }

    private func isTransferable(_ verification: JSONValue?) -> Bool {
        verification?["status"]?.string == "transferable"
    }

    /// A failure that a verification reports: with an error of its own, or by its status.
    ///
    /// A proof that the other flow can take over is none: the error beside it says only which flow that is.
    private func failure(of verification: JSONValue?) -> Outcome? {
        if isTransferable(verification) { return nil }
        if let error = verification?["error"].flatMap(ClerkError.init) { return clerk.outcome(ofEmbedded: error) }
        switch verification?["status"]?.string {
        case "expired": return clerk.failure(.challengeExpired, [.newChallenge])
        case "failed": return clerk.failure(.challengeExpired, [.newChallenge, .switchFactor])
        default: return nil
        }
    }

    /// What a flow wants that offers these factors: an answer at once, or a code to be sent before.
    private func wants(_ factors: JSONValue?, withoutCode: Set<String>) -> [Outcome.Remedy] {
        let strategies = (factors?.array ?? []).prefix(64).compactMap { $0["strategy"]?.string }
        return strategies.isEmpty || strategies.contains(where: withoutCode.contains)
            ? [.askUser] : [.newChallenge, .askUser]
    }

    private func next(_ remedies: [Outcome.Remedy]) -> Outcome {
        clerk.failure(.continue, remedies)
    }

    // MARK: Sessions

    /// A flow that has led to a session, which may have tasks.
    private func complete(_ flow: JSONValue) -> Outcome {
        guard let id = flow["created_session_id"]?.string,
            let session = content.json?["client"]?["sessions"]?.array?.first(where: { $0["id"]?.string == id }),
            session["status"]?.string == ClerkSessionStatus.pending.rawValue
        else { return ok }
        return pending(session)
    }

    /// A session that is signed in and counts as signed out until its first task is done.
    private func pending(_ session: JSONValue) -> Outcome {
        let key = session["tasks"]?[0]?["key"]?.string?.nonEmpty?.bounded(to: 256)
        var outcome = next(key.map { ClerkTask(rawValue: $0).remedies } ?? [.askUser])
        outcome.code = key
        return outcome
    }

    private func session(_ session: JSONValue, status: String) -> Outcome {
        switch status {
        case "pending": return pending(session)
        case "ended", "expired", "removed", "replaced", "revoked", "abandoned":
            // What was asked for, if the request was to end it.
            if clerk.endpoint.endsSession { return ok }
            var outcome = clerk.failure(.credentialRejected, [.reauthenticate])
            outcome.scope = .credential
            outcome.credential = .session
            return outcome
        default:
            return ok
        }
    }
}
