import AuthRecovery
import HTTPRecovery

/// A request of the app's own, behind which a person may have to prove themselves again, or that they are no robot.
///
/// Whatever else the server says is the app's: nobody is asked for anything because of it.
struct ClerkRequestStage: ClerkStage {
    static let name = "request"

    var api: ClerkAPI
    let call: ClerkAPI.Call
    /// What it was refused for, so that somebody has been asked.
    private var refusal: RecoveryError?

    init(api: ClerkAPI, call: ClerkAPI.Call) {
        self.api = api
        self.call = call
    }

    // It is never kept between two requests of a web backend.
    var recalled: JSONValue { .null }
    var placeOfProofs: AbuseQuestion.Place? { call.placeOfProofs }
    var canBeLookedUp: Bool { false }

    func sessionToVerify() async throws -> ClerkSession? {
        guard let session = try await api.liveSession(api.heldSession(call.sessionID)) else {
            throw RecoveryError.signedOut
        }
        return session
    }

    mutating func enter(_ context: SignInContext) {
        api = api.within(context.operation)
    }

    mutating func begin() async throws -> ClerkStep {
        // What somebody has proved is theirs, whoever is signed in by now.
        if var refusal, try await api.tokens.read().credentials.sessionID != call.sessionID {
            refusal.reason = .identityChanged
            return .answered(.failure(refusal))
        }
        do {
            return .answered(.success(try await api.send(call)))
        } catch let error as RecoveryError where error.outcome.isForPerson {
            refusal = error
            throw error
        } catch let error as RecoveryError {
            return .answered(.failure(error))
        }
    }

    // It asks for nothing by itself.
    mutating func resync(after doubt: RecoveryError?) async throws -> ClerkStep { try await begin() }
    mutating func choose(_ factor: Factor) async throws -> ClerkStep { try await begin() }
    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> ClerkStep { try await begin() }
    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> ClerkStep {
        try await begin()
    }
    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> ClerkStep { .choose([]) }
    mutating func follow(_ answer: ClerkAnswer) async throws -> ClerkStep { try await begin() }
}

extension Outcome {
    /// Whether a person can help.
    fileprivate var isForPerson: Bool { isAboutRobots || kind == .stepUpRequired }
}
