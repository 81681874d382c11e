import HTTPRecovery

// Messages at WhatsApp: to whom has written in the last day anything, to others templates alone.
extension FacebookWorld {
    private static let window: Int64 = 86_400_000

    mutating func whatsApp(
        _ exchange: FacebookExchange,
        _ phone: String,
        _ person: FacebookPerson,
        _ edge: String
    ) throws(FacebookFailure) -> JSONValue {
        if exchange.method == "GET", edge.isEmpty { return ["id": .string(phone), "display_phone_number": "+1 555"] }
        guard exchange.method == "POST", edge == "messages" else { throw .missingObject }
        try person.demand("whatsapp_business_messaging")
        guard exchange.json["messaging_product"]?.string == "whatsapp" else {
            throw .parameter("The parameter messaging_product is required")
        }
        guard let to = exchange.json["to"]?.string, !to.isEmpty else {
            throw .whatsApp(131_008, "Required parameter is missing", "The parameter 'to' is required")
        }
        let pair = "\(phone) \(to)"
        if exchange.json["type"]?.string == "template" {
            guard exchange.json["template"]?["name"]?.string == "hello_world" else {
                throw .whatsApp(132_001, "Template name does not exist in the translation", "There is no such template")
            }
        } else {
            guard exchange.json["text"]?["body"]?.string != nil else {
                throw .whatsApp(131_009, "Parameter value is not valid", "text.body")
            }
            guard let written = conversations[pair], exchange.now < written + Self.window else {
                throw .whatsApp(
                    131_047,
                    "Re-engagement message",
                    "Message failed to send because more than 24 hours have passed since the customer last replied"
                )
            }
        }
        if let limit = exchange.settings.pairLimit {
            let recent = (messages[pair] ?? []).filter { $0 > exchange.now - limit.per }
            guard recent.count < limit.count else {
                counters.limited += 1
                throw .whatsApp(
                    131_056,
                    "(Business Account, Consumer Account) pair rate limit hit",
                    "Too many messages"
                )
            }
            messages[pair] = recent
        }
        messages[pair, default: []].append(exchange.now)
        counters.messages += 1
        return [
            "messaging_product": "whatsapp", "contacts": [["input": .string(to), "wa_id": .string(to)]],
            "messages": [["id": .string("wamid." + random.letters(24))]],
        ]
    }

    /// A customer writes to a business, which may answer for a day.
    mutating func receive(from customer: String, at phone: String, now: Int64) {
        conversations["\(phone) \(customer)"] = now
    }
}

extension FacebookFailure {
    /// Of WhatsApp's: the details are for developers.
    fileprivate static func whatsApp(_ code: Int64, _ message: String, _ details: String) -> FacebookFailure {
        var failure = FacebookFailure(code, nil, "(#\(code)) \(message)", status: code == 132_001 ? 404 : 400)
        failure.data = ["messaging_product": "whatsapp", "details": .string(details)]
        return failure
    }
}
