public import AuthRecovery
public import HTTPRecovery
import HTTPTypes

/// What a journey begins with.
public enum JourneyStart: Sendable, Hashable {
    /// The realm's default journey.
    case standard
    /// A journey by name.
    case service(String)
    /// What a policy advises, to a session that exists, which is made stronger by it.
    case advice(PolicyAdvice)
    /// A suspended journey, by the id in the link that was mailed.
    case suspended(id: Secret)
    /// Another index type: `module`, `level`, `role`, `resource` or `user`.
    case index(type: String, value: String)

    var query: FormFields {
        switch self {
        case .standard: return [:]
        case .service(let name): return ["authIndexType": "service", "authIndexValue": name]
        case .advice(let advice): return ["authIndexType": "composite_advice", "authIndexValue": advice.xml]
        case .index(let type, let value): return ["authIndexType": type, "authIndexValue": value]
        case .suspended(let id):
            var fields = FormFields()
            fields.add("suspendedId", secret: id)
            return fields
        }
    }

    var action: ForgeRockAction {
        isSuspended ? .resumeAuthenticate : .startAuthenticate
    }

    var isSuspended: Bool {
        if case .suspended = self { true } else { false }
    }

    var isAdvice: Bool {
        if case .advice = self { true } else { false }
    }

    /// The name that interceptors are told.
    var name: String? {
        switch self {
        case .service(let name): name
        case .advice(let advice): advice.journey ?? advice.attributes.first?.name
        case .index(_, let value): value
        case .standard, .suspended: nil
        }
    }
}

extension JourneyStart {
    /// The suspended journey that a mailed link resumes.
    ///
    /// Where the link leads to is not looked at. An app with a login page or a URL scheme of its own takes the
    /// `suspendedId` out of its link by itself, for ``suspended(id:)``.
    ///
    /// - Parameter link: The link, an absolute `http` or `https` URL.
    /// - Throws: `Origin.InvalidURL` when the text is no such URL, or has no `suspendedId`.
    public static func resuming(_ link: String) throws(Origin.InvalidURL) -> JourneyStart {
        _ = try HTTPRequest(url: link)
        // Login pages have it behind their fragment, too.
        let query = link.split(separator: "?", maxSplits: 1).dropFirst().joined().split(separator: "#")
        let id = FormFields(parsing: query.joined(separator: "&").utf8)["suspendedId"].first
        guard let id, !id.reveal().isEmpty else {
            throw Origin.InvalidURL(description: "the link names no suspended journey")
        }
        return .suspended(id: id)
    }
}

/// The end of a journey that has succeeded.
public struct JourneySuccess: Sendable, Hashable {
    /// The token of the session; nil if the journey was not to make one.
    public var token: Secret?
    /// Where the journey's author sends people to.
    public var successURL: String?
    /// The realm, such as `/alpha`.
    public var realm: String?

    init?(_ value: JSONValue) {
        token = value["tokenId"]?.string?.nonEmpty.map { Secret($0) }
        successURL = value["successUrl"]?.string?.nonEmpty?.bounded(to: 4096)
        realm = value["realm"]?.string?.nonEmpty?.bounded(to: 256)
        // A token that is none is no journey without a session, but no answer of the server's.
        let hasToken = value["tokenId"].map { !$0.isNull } ?? false
        if hasToken ? token == nil : value["successUrl"]?.string == nil { return nil }
    }
}
