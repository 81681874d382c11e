import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The Frontend API as a native client calls it.
struct ClerkAPI: Sendable, ClientBound {
    /// The version of the Frontend API that the client speaks.
    static let version = "2026-05-12"

    let base: FrontendAPI
    var client: RecoveringClient
    let tokens: any TokenStore
    var configuration: ClerkConfiguration

    /// What proves that nobody is a robot, for what begins a flow.
    var evidence = AbuseEvidence()

    /// What the server has told of the client.
    let mirror = ClientMirror()
    let reads = ClientReads()
    let sessionTokens = SessionTokenCache()
    let clocks = ServerClocks(capacity: 1)
    /// How the instance is set up, once that has been read.
    let environment = Locked<ClerkEnvironment?>(nil)

    /// The server's time, as far as it is known.
    var now: Timestamp {
        clocks.time(at: base.origin, wallTime: client.runtime.time.wallTime)
    }

    /// What one call is.
    struct Call {
        var method: HTTPRequest.Method = .get
        /// The path below the base URL; `/v1` may be left out.
        var path: String
        var query = FormFields()
        var headerFields: HTTPFields = [:]
        var body: ProviderRequest.Content?
        var resend: RequestOptions.ResendPermission = .byMethod
        /// The session that calls about the user are made for.
        var sessionID: String?
        /// The session that the call is about; if it is refused for it, the client is read again.
        var concerns: String?
        /// Whether the client is read again if the call is refused, also if no session is known.
        var asksClient = false
        var account: String?
        /// Until when it may be sent.
        var sendBy: RequestOptions.SendBy?
        /// Policies of the call, asked before all others.
        var policies: [any RecoveryPolicy] = []

        /// Whether it presents a code or a signature, which has grown stale once a lockout was waited out.
        var presentsOneTimeProof: Bool {
            guard let bytes = body?.body.bytesInMemory else { return false }
            return FormFields(parsing: bytes).names.contains {
                ["code", "public_key_credential", "signature"].contains($0)
            }
        }
    }

    /// Performs a call and reads its answer.
    ///
    /// - Throws: `RecoveryError` when the call failed, or when a success has a body that is not JSON.
    func perform(_ call: Call) async throws -> ClerkAnswer {
        let response = try await send(call)
        return ClerkAnswer(json: try await response.json(), response: response)
    }

    /// Performs a call.
    func send(_ call: Call) async throws -> RecoveredResponse {
        var request = base.request(call.method, path: call.path, query: call.query, sessionID: call.sessionID)
        request.headerFields = call.headerFields
        request.headerFields[Self.versionField] = Self.version
        request.headerFields[Self.mobileField] = "1"
        request.headerFields[.accept] = request.headerFields[.accept] ?? "application/json"
        let body = call.body?.body(typedIn: &request.headerFields)
        let progress = CallProgress()
        if call.beginsFlow { progress.add(evidence.form) }
        var policies = call.policies
        let sessionID = call.concerns ?? call.sessionID
        if sessionID != nil || call.asksClient {
            policies.append(
                ClientResync(
                    api: self,
                    sessionID: sessionID,
                    isAboutSession: call.concerns != nil,
                    progress: progress
                )
            )
        }
        var admissions: [any Admission] = []
        if let pacing = configuration.pacing { admissions.append(pacing) }
        if call.presentsOneTimeProof { admissions.append(LockedAnswer.ofOneTimeProof) }
        if let source = configuration.proofs {
            policies.append(AbuseProof(api: self, source: source, call: call, progress: progress))
        }
        do {
            return try await client.send(
                request,
                body: body,
                options: RequestOptions(
                    resend: call.resend,
                    sendBy: call.sendBy,
                    classifier: ClerkClassifier(),
                    account: call.account,
                    // Clerk counts per address and class of endpoint, so the token does not tell limits apart.
                    credentialID: "",
                    presents: .client,
                    attemptLayers: [ClerkAuthorization(api: self, progress: progress)],
                    policies: policies,
                    admissions: admissions
                )
            )
        } catch let error as RecoveryError {
            throw Self.withoutDoubt(error)
        }
    }

    /// The error, without a word about a session's end if nobody has found that it has ended.
    private static func withoutDoubt(_ error: RecoveryError) -> RecoveryError {
        guard error.outcome.isRefusal else { return error }
        var error = error
        if error.reason == .alreadyRepaired {
            error.outcome.remedies = [.retry]
            error.outcome.userMessage = "The service has refused this, although you are still signed in."
        } else {
            error.outcome.userMessage = ClientResync.doubt
        }
        return error
    }

    private static let versionField = HTTPField.Name("clerk-api-version")!
    private static let mobileField = HTTPField.Name("x-mobile")!
}
