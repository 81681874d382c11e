import HTTPRecovery

// Reels: begun at Graph, sent to another host, published at Graph.
extension FacebookWorld {
    /// The steps that are Graph's.
    mutating func reel(_ exchange: FacebookExchange, for owner: String) throws(FacebookFailure) -> JSONValue {
        switch try exchange.required("upload_phase") {
        case "start":
            let video = nextNumber()
            uploads[Self.reel(video)] = FacebookUploadSession(owner: owner, size: nil, video: video)
            let path = "video-upload/\(exchange.version ?? "v25.0")/\(video)"
            return ["video_id": .string(video), "upload_url": .string("http://\(exchange.host)/\(path)")]
        case "finish":
            let video = try exchange.required("video_id")
            guard let session = uploads[Self.reel(video)], session.owner == owner else {
                throw FacebookFailure(6000, 1_363_041, "The upload session is gone.")
            }
            guard session.received == session.size else {
                throw FacebookFailure(6000, 1_363_019, "There was a problem uploading your video file.")
            }
            if !session.isPublished { counters.videos += 1 }
            uploads[Self.reel(video)]?.isPublished = true
            return ["success": true]
        default: throw .parameter("Invalid upload_phase")
        }
    }

    /// The bytes, from where the last ones ended.
    mutating func reelBytes(
        _ exchange: FacebookExchange,
        _ video: String,
        of person: FacebookPerson
    ) throws(FacebookFailure) -> JSONValue {
        let name = Self.reel(video)
        guard exchange.method == "POST", let session = uploads[name],
            session.owner == person.id || person.reaches(session.owner)
        else { throw .missingObject }
        guard let size = exchange.bytes.of, size == session.size ?? size, exchange.bytes.offset == session.received,
            session.received + exchange.bytes.count <= size
        else { throw .parameter("Request starting offset is invalid") }
        uploads[name]?.size = size
        uploads[name]?.received += exchange.bytes.count
        counters.chunks += 1
        guard session.received + exchange.bytes.count == size else { throw .parameter("The file is not whole") }
        return ["success": true, "message": "Upload successful."]
    }

    private static func reel(_ video: String) -> String { "reel " + video }
}
