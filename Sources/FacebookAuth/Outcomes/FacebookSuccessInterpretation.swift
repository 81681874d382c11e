import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// A success in which no error can be read.
struct FacebookSuccessInterpretation {
    private let facebook: FacebookInterpretation
    private var interpretation: ErrorInterpretation { facebook.interpretation }
    private var endpoint: FacebookEndpoint { facebook.endpoint }

    init(_ facebook: FacebookInterpretation) {
        self.facebook = facebook
    }

    var outcome: Outcome {
        if [204, 205].contains(facebook.status) || [.head, .options].contains(interpretation.exchange.method) {
            return ended(facebook.failure(.ok))
        }
        switch facebook.body {
        case .json(let value): return outcome(of: value)
        case .empty: return announcesBody ? facebook.failure(.ok) : foreign
        case .markup: return FacebookBody.isErrorPage(interpretation.body) ? facebook.unavailable : foreign
        case .text(let text):
            // What the token endpoint of old versions answered.
            if endpoint.issuesTokens, text.hasPrefix("access_token=") { return issued(facebook.failure(.ok)) }
            if FacebookBody.speaksOfOutage(text) { return facebook.unavailable }
            return isFile ? facebook.failure(.ok) : foreign
        // A batch whose items cannot be read is none that went well.
        case .other: return isFile || interpretation.isCut && !isBatch ? facebook.failure(.ok) : foreign
        }
    }

    /// Somebody else has answered.
    private var foreign: Outcome { facebook.failure(.unreadable, processed: .unknown) }

    /// Whether the body was not read, because the call wants it streamed.
    private var announcesBody: Bool {
        if let length = interpretation.fields[.contentLength].flatMap({ Int($0) }) { return length > 0 }
        return interpretation.fields[.transferEncoding] != nil
    }

    /// Whether the answer is a picture, a report or another file.
    private var isFile: Bool {
        let type = interpretation.fields[.contentType]?.lowercased() ?? ""
        let types = ["image/", "video/", "audio/", "text/csv", "application/octet-stream", "application/pdf"]
        return types.contains { type.hasPrefix($0) }
    }

    // MARK: Values

    private func outcome(of value: JSONValue) -> Outcome {
        switch value {
        case .bool(true): return ended(facebook.failure(.ok))
        // What old versions answered about an object that does not exist or is hidden.
        case .bool(false):
            return interpretation.exchange.method == .get
                ? facebook.failure(.notFound, [.fixRequest]) : facebook.failure(.unknown)
        case .null: return foreign
        case .array(let elements): return batch(elements) ?? facebook.failure(.ok)
        case .object:
            if value["success"]?.looseBool == false, value["success"]?.number == nil {
                return facebook.failure(.unknown)
            }
            let word = value["status_code"] ?? value["status"]?["video_status"]
            if interpretation.exchange.method == .get, let word = word?.string { return media(in: word) }
            let isIssued = value["access_token"]?.string?.nonEmpty != nil
            let isFlow = endpoint.issuesTokens || endpoint.isDeviceStatus
            return isIssued && isFlow ? issued(facebook.failure(.ok)) : ended(facebook.failure(.ok))
        default: return facebook.failure(.ok)
        }
    }

    /// What a container of Instagram's says about itself, which is published once it is ready, or a video.
    private func media(in word: String) -> Outcome {
        var outcome =
            switch word {
            case "IN_PROGRESS", "processing": facebook.failure(.continue, [.poll])
            // Neither can be published any more.
            case "EXPIRED", "ERROR", "error": facebook.failure(.flowExpired, [.restartFlow])
            default: facebook.failure(.ok)
            }
        outcome.statusType = word.bounded(to: 64)
        return outcome
    }

    /// A token was issued: a code is used up by it, and a token replaced.
    private func issued(_ outcome: Outcome) -> Outcome {
        var outcome = outcome
        switch facebook.presented {
        case .code, .device: outcome.tokenAction = .clear
        case .access, .refresh: outcome.tokenAction = .rotate
        default: break
        }
        return outcome
    }

    /// All permissions were taken back, and with them the token.
    private func ended(_ outcome: Outcome) -> Outcome {
        var outcome = outcome
        if endpoint.revokesAll, facebook.presented == .access { outcome.tokenAction = .clear }
        return outcome
    }

    // MARK: Batches

    /// The most items that are judged; the API allows fifty.
    private static let maximumItems = 256

    /// Whether the request was a batch.
    private var isBatch: Bool { endpoint.isRoot && interpretation.exchange.method == .post }

    /// The answer to a batch, item by item; nil if the elements are no items.
    private func batch(_ elements: [JSONValue]) -> Outcome? {
        guard isBatch || elements.contains(where: \.isBatchItem) else { return nil }
        var outcome = facebook.failure(.ok)
        outcome.items = elements.prefix(Self.maximumItems).map { item($0) }
        // Fewer answers than requests are noticed if the requests are known; none at all are noticed here.
        if elements.isEmpty { outcome.kind = .unreadable }
        return outcome
    }

    private func item(_ element: JSONValue) -> Outcome {
        guard let answer = FacebookBatchItem(element) else {
            // One that was not finished in time is `null`.
            return element.isNull
                ? Outcome(.unavailable, processed: .unknown, remedies: [.retry])
                : Outcome(.unreadable, processed: .unknown)
        }
        return answer.outcome(
            presented: facebook.presented,
            now: interpretation.exchange.now,
            classifier: FacebookClassifier(errors: facebook.errors)
        )
    }
}
