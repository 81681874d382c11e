/// Why a link that an answer publishes is not followed.
public enum OktaLinkError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It leads to another origin than the org's; following it would show that one the state token.
    case foreignOrigin
    /// It is no URL.
    case invalid
    /// The answer publishes no such link.
    case missing(String)

    /// What is wrong; the link itself is left out, since it may hold secrets.
    public var description: String {
        switch self {
        case .foreignOrigin: "the link leads to another origin than the org's"
        case .invalid: "the link is no URL"
        case .missing(let name): "the answer has no link \(name)"
        }
    }
}
