import HTTPRecovery
import Testing

/// Codes of Clerk's registry for the Frontend API that mean the same, with the status that they come with.
struct ClerkRegistryRow: Sendable, CustomTestStringConvertible {
    var kind: Outcome.Kind
    var status: Int
    var remedies: [Outcome.Remedy]
    var codes: [String]

    init(_ kind: Outcome.Kind, _ status: Int, _ remedies: [Outcome.Remedy], _ codes: String) {
        self.kind = kind
        self.status = status
        self.remedies = remedies
        self.codes = codes.split { $0 == " " || $0 == "\n" }.map(String.init)
    }

    var testDescription: String { "\(kind.rawValue) \(status): \(codes.count) codes" }

    /// Where it comes from: for some codes a sign-in would give them another meaning, or a way out of its own.
    var path: String {
        switch kind {
        case .notFound: "/v1/me"
        default: "/v1/client/sign_ins"
        }
    }

    /// The second status of those that have two.
    static let second: [Self] = [
        Self(.flowExpired, 401, [.restartFlow], "oauth_fetch_user_error"),
        Self(.invalidRequest, 422, [.fixRequest], "form_param_missing"),
    ]
}
