public import AuthRecovery
import HTTPRecovery

/// What a journey begins with.
public enum JourneyStart: Sendable, Hashable {
    /// The realm's default journey.
    case standard
    /// A journey by name.
    case service(String)
    /// What a policy advises, to a session that exists.
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
        if case .suspended = self { .resumeAuthenticate } else { .startAuthenticate }
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
    /// - Parameter url: The link, or the id by itself.
    public static func resuming(_ url: String) -> JourneyStart {
        guard let mark = url.firstIndex(of: "?") else { return .suspended(id: Secret(url)) }
        let query = url[url.index(after: mark)...].split(separator: "#").joined(separator: "&")
        let id = FormFields(parsing: query.utf8)["suspendedId"].first
        return .suspended(id: id ?? Secret(url))
    }
}

/// The end of a journey that has succeeded.
public struct JourneySuccess: Sendable, Hashable {
    /// The token of the session; nil where the journey was not to make one.
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
        if hasToken ? token == nil : value["successUrl"] == nil { return nil }
    }
}
