import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Where PingAM is, and which realm of it: an origin, the path of its deployment, and the realm.
struct ForgeRockServer: Sendable, Hashable {
    private let base: ServiceURL
    /// The realm's segments in paths, such as `realms/root/realms/alpha`.
    let realmPath: String

    /// Reads a base URL: what stands before `/json`.
    init(_ url: String, realm: String) throws(Origin.InvalidURL) {
        base = try ServiceURL(url, without: "/json")
        let names = realm.split(separator: "/").filter { $0 != "root" }
        realmPath = (["root"] + names.map { FormFields.encode(segment: String($0)) })
            .map { "realms/\($0)" }
            .joined(separator: "/")
    }

    var origin: Origin { base.origin }

    /// The path of the deployment, such as `/am`.
    var prefix: String { base.prefix }

    /// What a mailed link begins, if it leads here.
    func start(resuming link: String) throws(Origin.InvalidURL) -> JourneyStart {
        let start = try JourneyStart.resuming(link)
        guard Origin(of: try HTTPRequest(url: link)) == origin else {
            throw Origin.InvalidURL(description: "the link leads to another server than the base URL")
        }
        return start
    }

    /// A path of the realm's REST API.
    func json(_ path: String) -> String { "\(prefix)/json/\(realmPath)/\(path)" }

    /// The path of one of the realm's OAuth endpoints.
    func oauth(_ path: String) -> String { "\(prefix)/oauth2/\(realmPath)/\(path)" }

    /// A request to a path, which may have a query.
    func request(_ method: HTTPRequest.Method, path: String) -> HTTPRequest {
        ServiceURL(origin, prefix: "").request(method, path: path)
    }
}
