import HTTPRecovery

/// Somebody at Facebook.
struct FacebookPerson: Sendable {
    let id: String
    var user: SandboxUser
    /// What was said about each permission: `granted`, `declined` or `expired`.
    var permissions: [(name: String, status: String)]
    /// Tokens that were issued before are dead, for that reason.
    var passwordChangedAt: Int64 = -1
    var appRemovedAt: Int64 = -1
    var posts: [FacebookPost] = []

    var name: String {
        let names = [user.firstName, user.lastName].compactMap { $0 }
        return names.isEmpty ? user.identifier : names.joined(separator: " ")
    }

    /// Whether they manage a page, and have let the app see it.
    func reaches(_ page: String) -> Bool {
        user.facebook.pages.contains(page) && !user.facebook.leavesOut.contains(page)
    }

    func has(_ permission: String) -> Bool {
        permissions.contains { $0.name == permission && $0.status == "granted" }
    }

    mutating func set(_ permission: String, _ status: String) {
        permissions.removeAll { $0.name == permission }
        permissions.append((permission, status))
    }
}

/// What somebody has posted.
struct FacebookPost: Sendable {
    let id: String
    let message: String
    let createdAt: Int64
}

/// A token of a person or of a page of theirs.
struct FacebookToken: Sendable {
    let person: String
    /// The page's id; nil for a token of the person.
    let page: String?
    var behaviour: SandboxFacebookBehaviour
    let scopes: [String]
    let issuedAt: Int64
    /// Nil for a token that does not end.
    let expiresAt: Int64?
}

/// A device that wants somebody to sign in.
struct FacebookDevice: Sendable {
    enum Decision: Sendable, Equatable {
        case pending
        case approved(person: String)
        case declined
        case used
    }

    let number: Int
    let userCode: String
    let scopes: [String]
    let expiresAt: Int64
    var interval: Int64
    var decision = Decision.pending
    var polls: Int64 = 0
    var lastPoll: Int64?
}

/// A file that is being uploaded, or was.
struct FacebookUploadSession: Sendable {
    /// Whose it is: a person's id, or a page's.
    let owner: String
    /// How many bytes it has; nil until somebody says so.
    var size: Int?
    /// How many bytes have come.
    var received = 0
    /// The video's id; nil for a file of the app's.
    var video: String?
    var isPublished = false
}

/// A code that the login dialog has issued.
struct FacebookCode: Sendable {
    let person: String
    let redirectURI: String
    let scopes: [String]
    /// The challenge (S256) that the verifier has to fit in place of the app's secret; nil without one.
    var challenge: String?
    /// What the ID token is tied to the request by; nil where none was asked for.
    var nonce: String?
    let expiresAt: Int64
}

/// Calls that are refused for a while.
struct FacebookBlock: Sendable {
    /// Which limit was reached.
    let code: Int64
    /// Whose calls they are: a person's id, an ad account, or nil for everybody's.
    let subject: String?
    var until: Int64
    /// Whether somebody was told of it already, so that a further call comes too early.
    var isKnown = false
}

/// Whose token a request presents.
enum FacebookPrincipal: Sendable, Equatable {
    case person(String, page: String?)
    case app
    case client
}

/// One request, or one item of a batch, with what it says.
struct FacebookExchange {
    let method: String
    var parts: [String]
    let version: String?
    /// The query and the form.
    let fields: [FormEncoding.Field]
    let bearer: String?
    let host: String
    /// A file that came in a form, and how it is called there.
    let file: (field: String, bytes: [UInt8])?
    /// The bytes of the body, which is no form, the place in a file where they begin, and the file's length.
    let bytes: (offset: Int?, count: Int, of: Int?)
    /// The body, if it is JSON.
    let json: JSONValue
    let now: Int64
    let settings: SandboxFacebookSettings

    init(_ request: SandboxRequest, _ route: FacebookRoute, context: SandboxContext) {
        let parts = MultipartParts(request)
        let form = Masking.isForm(request) ? FormEncoding.fields(request.body) : parts?.fields ?? []
        fields = Array((request.query + form).prefix(1000))
        file = parts?.file
        let offset = request.header("file_offset") ?? request.header("offset")
        bytes = (offset.flatMap { Int($0) }, request.body.count, request.header("file_size").flatMap { Int($0) })
        let isJSON = request.header("content-type")?.hasPrefix("application/json") == true
        json = isJSON && request.body.count <= 65_536 ? (try? JSONValue(parsing: request.body)) ?? .null : .null
        let words = (request.header("authorization") ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        let isToken = words.count == 2 && ["bearer", "oauth"].contains(words[0].lowercased())
        bearer = isToken ? words[1] : nil
        self.parts = route.parts
        version = route.version
        let override = fields.first { $0.name == "method" }?.value.uppercased() ?? ""
        method = ["GET", "POST", "DELETE"].contains(override) ? override : request.method
        host = request.header("host") ?? "127.0.0.1"
        now = context.now
        settings = context.settings.facebook
    }

    /// A field; nil when it is absent or empty.
    func value(_ name: String) -> String? {
        fields.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// The ids of several objects that a read is about; each is read as if it stood before the path.
    var ids: [String] {
        guard method == "GET", let list = value("ids") else { return [] }
        var known: Set<Substring> = []
        return list.split(separator: ",").filter { known.insert($0).inserted }.map(String.init)
    }

    /// The same call about one of its objects alone.
    func about(_ id: String) -> FacebookExchange {
        var exchange = self
        exchange.parts.insert(id, at: 0)
        return exchange
    }

    /// The token that is presented.
    var token: String? { value("access_token") ?? bearer }

    /// All values of a field.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    func required(_ name: String) throws(FacebookFailure) -> String {
        guard let value = value(name) else { throw .parameter("The parameter \(name) is required") }
        return value
    }
}
