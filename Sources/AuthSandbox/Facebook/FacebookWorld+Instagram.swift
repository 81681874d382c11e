import HTTPRecovery

/// What is to be published at Instagram, and is prepared first.
struct FacebookContainer: Sendable {
    /// The Instagram account's id.
    let account: String
    let createdAt: Int64
    /// Whether what is at the address cannot be published: its path ends in `broken`.
    let isBroken: Bool
    var publishedAt: Int64?
}

// Publishing at Instagram: a container is prepared, and then published.
extension FacebookWorld {
    /// How long a container lasts, and the time in which posts are counted.
    private static let day: Int64 = 86_400_000

    mutating func instagram(
        _ exchange: FacebookExchange,
        _ account: String,
        _ person: FacebookPerson,
        _ edge: String
    ) throws(FacebookFailure) -> JSONValue {
        switch "\(exchange.method) \(edge)" {
        case "GET ": return ["id": .string(account), "username": .string("account_\(account)")]
        case "POST media":
            try person.demand("instagram_content_publish")
            guard let address = exchange.value("image_url") ?? exchange.value("video_url") else {
                throw .parameter("The parameter image_url is required")
            }
            let id = nextNumber()
            containers[id] = FacebookContainer(
                account: account,
                createdAt: exchange.now,
                isBroken: address.hasSuffix("broken")
            )
            return ["id": .string(id)]
        case "POST media_publish":
            try person.demand("instagram_content_publish")
            return try publish(try exchange.required("creation_id"), of: account, exchange)
        case "GET content_publishing_limit":
            return ["data": [["quota_usage": .int(postsOfDay(account, exchange.now))]]]
        default: throw .missingObject
        }
    }

    /// How far a container is; nil for an id that is none.
    func containerView(_ id: String, _ exchange: FacebookExchange) -> JSONValue? {
        containers[id].map { ["id": .string(id), "status_code": .string(Self.state($0, exchange))] }
    }

    private static func state(_ container: FacebookContainer, _ exchange: FacebookExchange) -> String {
        if container.publishedAt != nil { return "PUBLISHED" }
        let age = exchange.now - container.createdAt
        if age >= day { return "EXPIRED" }
        if age < exchange.settings.mediaTime { return "IN_PROGRESS" }
        return container.isBroken ? "ERROR" : "FINISHED"
    }

    private mutating func publish(
        _ id: String,
        of account: String,
        _ exchange: FacebookExchange
    ) throws(FacebookFailure) -> JSONValue {
        guard let container = containers[id], container.account == account else {
            throw .instagram(24, 2_207_006, "The requested resource does not exist")
        }
        switch Self.state(container, exchange) {
        case "IN_PROGRESS": throw .instagram(9007, 2_207_027, "Media ID is not available")
        case "EXPIRED", "PUBLISHED", "ERROR":
            throw .instagram(24, 2_207_008, "The media builder has expired or was used")
        default: break
        }
        guard postsOfDay(account, exchange.now) < exchange.settings.mediaPerDay else {
            throw .instagram(9, 2_207_042, "You reached the maximum number of posts that is allowed to be published")
        }
        containers[id]?.publishedAt = exchange.now
        counters.media += 1
        return ["id": .string("1" + id)]
    }

    private func postsOfDay(_ account: String, _ now: Int64) -> Int64 {
        let times = containers.values.filter { $0.account == account }.compactMap(\.publishedAt)
        return Int64(times.filter { $0 > now - Self.day }.count)
    }
}

extension FacebookFailure {
    /// Of Instagram's: it says to the person what is wrong, and that the same again will not help.
    fileprivate static func instagram(_ code: Int64, _ subcode: Int64, _ message: String) -> FacebookFailure {
        var failure = FacebookFailure(code, subcode, message, status: 400)
        failure.isTransient = false
        (failure.userTitle, failure.userMessage) = (message, "\(message).")
        return failure
    }
}
