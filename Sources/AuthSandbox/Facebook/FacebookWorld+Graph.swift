import HTTPRecovery

// The nodes and edges themselves.
extension FacebookWorld {
    mutating func graph(_ exchange: FacebookExchange) throws(FacebookFailure) -> JSONValue {
        let principal = try admittedPrincipal(of: exchange)
        guard let first = exchange.parts.first else { throw .parameter("Unsupported \(exchange.method) request") }
        let edge = exchange.parts.dropFirst().joined(separator: "/")
        if first == exchange.settings.appID, edge != "uploads" { return try app(exchange, principal, edge) }
        guard let principal else {
            if first == "me" { throw .noToken }
            throw FacebookFailure(104, nil, "An access token is required to request this resource.")
        }
        guard case .person(let id, let page) = principal, let person = people[id] else {
            if first == "me" { throw .noToken }
            throw FacebookRoute.isID(first) ? .missingObject : FacebookFailure(803)
        }
        if first == exchange.settings.appID, exchange.method == "POST" { return try beginFile(exchange, for: id) }
        if first.hasPrefix("upload:"), edge.isEmpty { return try file(exchange, first, for: id) }
        if first == "video-upload" { return try reelBytes(exchange, edge, of: person) }
        if edge.isEmpty, exchange.method == "GET", let view = videoView(first) ?? containerView(first, exchange) {
            return view
        }
        if person.user.facebook.instagram.contains(first) { return try instagram(exchange, first, person, edge) }
        if person.user.facebook.whatsApp.contains(first) { return try whatsApp(exchange, first, person, edge) }
        if first.hasPrefix("act_") { return try insights(exchange, person, edge) }
        if first == "me" || first == (page ?? id) {
            if let page { return try self.page(exchange, page, person, edge) }
            return try me(exchange, person, edge)
        }
        if let index = person.posts.firstIndex(where: { $0.id == first }), edge.isEmpty {
            return try post(exchange, person, index)
        }
        if person.reaches(first) { return try self.page(exchange, first, person, edge) }
        throw FacebookRoute.isID(first) ? .missingObject : FacebookFailure(803)
    }

    /// The most objects of one call.
    static let maximumObjects = 50

    /// Several objects in one answer, of which each counts as a call; one that cannot be read ends it all.
    mutating func objects(_ exchange: FacebookExchange) throws(FacebookFailure) -> JSONValue {
        let ids = exchange.ids
        guard ids.count <= Self.maximumObjects else {
            throw .parameter("Too many IDs. Maximum: \(Self.maximumObjects). Provided: \(ids.count).")
        }
        var answer: JSONValue = [:]
        for id in ids { answer = answer.adding(id, try graph(exchange.about(id))) }
        return answer
    }

    private func app(
        _ exchange: FacebookExchange,
        _ principal: FacebookPrincipal?,
        _ edge: String
    ) throws(FacebookFailure) -> JSONValue {
        guard principal != nil else {
            throw FacebookFailure(104, nil, "An access token is required to request this resource.")
        }
        guard edge.isEmpty, exchange.method == "GET" else { throw .method }
        return [
            "id": .string(exchange.settings.appID), "name": "Sandbox",
            "ios_sdk_error_categories": [
                ["name": "transient", "items": [["code": 1], ["code": 2], ["code": 4], ["code": 17], ["code": 341]]],
                [
                    "name": "login_recoverable", "items": [["code": 102], ["code": 190], ["code": 50_001]],
                    "recovery_message": "Please log in to this app again.", "recovery_options": ["OK", "Cancel"],
                ],
            ],
        ]
    }

    // MARK: The person

    private mutating func me(
        _ exchange: FacebookExchange,
        _ person: FacebookPerson,
        _ edge: String
    ) throws(FacebookFailure) -> JSONValue {
        switch "\(exchange.method) \(edge)" {
        case "GET ": return view(of: person, exchange)
        case "GET permissions":
            let list: [JSONValue] = person.permissions.map {
                ["permission": .string($0.name), "status": .string($0.status)]
            }
            return ["data": .array(list)]
        case "DELETE permissions":
            people[person.id]?.appRemovedAt = exchange.now
            people[person.id]?.permissions = []
            return ["success": true]
        case let name where name.hasPrefix("DELETE permissions/"):
            people[person.id]?.set(String(name.dropFirst("DELETE permissions/".count)), "declined")
            return ["success": true]
        case "GET accounts":
            let pages: [JSONValue] = person.user.facebook.pages.filter(person.reaches).map { page in
                let token = issue(person.id, page: page, expiresAt: nil, now: exchange.now)
                return ["id": .string(page), "name": .string("Page \(page)"), "access_token": .string(token)]
            }
            return ["data": .array(pages)]
        case "POST videos": return try video(exchange, for: person.id)
        case "POST photos": return try photo(exchange, for: person.id)
        case "POST video_reels": return try reel(exchange, for: person.id)
        case "GET feed": return feed(exchange, person)
        case "POST feed":
            let message = try exchange.required("message")
            guard person.posts.last?.message != message else {
                counters.duplicates += 1
                throw FacebookFailure(506)
            }
            counters.posts += 1
            let id = "\(person.id)_\(person.posts.count + 1)"
            people[person.id]?.posts.append(FacebookPost(id: id, message: message, createdAt: exchange.now))
            return ["id": .string(id)]
        default: throw .missingObject
        }
    }

    private func view(of person: FacebookPerson, _ exchange: FacebookExchange) -> JSONValue {
        let fields = exchange.value("fields").map { $0.split(separator: ",").prefix(100).map(String.init) } ?? ["name"]
        var view: JSONValue = [:]
        for field in fields {
            switch field {
            case "name": view = view.adding("name", .string(person.name))
            case "first_name": view = view.adding("first_name", .optional(person.user.firstName))
            case "last_name": view = view.adding("last_name", .optional(person.user.lastName))
            case "email" where person.has("email"):
                if let address = person.user.emails.first { view = view.adding("email", .string(address)) }
            default: break
            }
        }
        return view.adding("id", .string(person.id))
    }

    // MARK: Posts

    private func view(of post: FacebookPost) -> JSONValue {
        [
            "id": .string(post.id), "message": .string(post.message),
            "created_time": .string(Timestamp(milliseconds: post.createdAt).rfc3339),
        ]
    }

    private func feed(_ exchange: FacebookExchange, _ person: FacebookPerson) -> JSONValue {
        let limit = min(max(exchange.value("limit").flatMap { Int($0) } ?? 25, 1), 100)
        let start = max(0, exchange.value("after").flatMap { Int($0) } ?? 0)
        let posts = Array(person.posts.reversed())
        let shown = posts.dropFirst(start).prefix(limit)
        var answer: JSONValue = ["data": .array(shown.map { view(of: $0) })]
        let end = start + shown.count
        if end < posts.count {
            var url = "http://\(exchange.host)/\(exchange.version ?? "v25.0")/me/feed?limit=\(limit)&after=\(end)"
            // As Facebook does, whoever reads the answer finds the token in it.
            if let token = exchange.token { url += "&access_token=\(FormEncoding.encode(token))" }
            answer = answer.adding("paging", ["cursors": ["after": .string(String(end))], "next": .string(url)])
        }
        return answer
    }

    private mutating func post(
        _ exchange: FacebookExchange,
        _ person: FacebookPerson,
        _ index: Int
    ) throws(FacebookFailure) -> JSONValue {
        switch exchange.method {
        case "GET": return view(of: person.posts[index])
        case "DELETE":
            people[person.id]?.posts.remove(at: index)
            return ["success": true]
        default: throw .method
        }
    }

    // MARK: Pages and accounts

    private mutating func page(
        _ exchange: FacebookExchange,
        _ page: String,
        _ person: FacebookPerson,
        _ edge: String
    ) throws(FacebookFailure) -> JSONValue {
        switch "\(exchange.method) \(edge)" {
        case "GET ": return ["name": .string("Page \(page)"), "id": .string(page)]
        case "GET feed", "GET posts":
            try person.demand("pages_read_engagement")
            return ["data": []]
        case "POST videos", "POST photos", "POST video_reels":
            try person.demand("pages_manage_posts")
            switch edge {
            case "videos": return try video(exchange, for: page)
            case "photos": return try photo(exchange, for: page)
            default: return try reel(exchange, for: page)
            }
        default: throw .missingObject
        }
    }

    private func insights(
        _ exchange: FacebookExchange,
        _ person: FacebookPerson,
        _ edge: String
    ) throws(FacebookFailure) -> JSONValue {
        if !person.has("ads_management") { try person.demand("ads_read") }
        guard edge == "insights", exchange.method == "GET" else { throw .missingObject }
        return [
            "data": [["impressions": "1024", "spend": "12.50", "date_start": "2026-01-01", "date_stop": "2026-01-07"]],
            "paging": ["cursors": ["before": "MAZDZD", "after": "MAZDZD"]],
        ]
    }
}

extension FacebookPerson {
    /// Refuses what needs a permission that the person has not granted.
    func demand(_ permission: String) throws(FacebookFailure) {
        guard !has(permission) else { return }
        switch permission {
        case "ads_read":
            throw FacebookFailure(
                200,
                nil,
                "(#200) Ad account owner has NOT grant ads_management or ads_read permission"
            )
        case "pages_manage_posts":
            throw FacebookFailure(200, nil, "(#200) The permission(s) \(permission) are not available.")
        default:
            throw FacebookFailure(10, nil, "(#10) This endpoint requires the '\(permission)' permission")
        }
    }
}
