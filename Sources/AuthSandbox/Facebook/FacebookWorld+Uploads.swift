import HTTPRecovery

// Videos in chunks, photos, and the app's own files.
extension FacebookWorld {
    // MARK: Videos

    /// The steps of a video's upload.
    mutating func video(_ exchange: FacebookExchange, for owner: String) throws(FacebookFailure) -> JSONValue {
        switch try exchange.required("upload_phase") {
        case "start":
            guard let size = try Int(exchange.required("file_size")), size >= 0 else { throw .parameter("file_size") }
            let (id, video) = (nextNumber(), nextNumber())
            uploads[id] = FacebookUploadSession(owner: owner, size: size, video: video)
            return offsets(0, of: size, exchange).adding("upload_session_id", .string(id)).adding(
                "video_id",
                .string(video)
            )
        case "transfer":
            let (id, session) = try self.session(exchange, of: owner)
            guard let chunk = exchange.file, chunk.field == "video_file_chunk",
                let start = try Int(exchange.required("start_offset"))
            else { throw .parameter("video_file_chunk") }
            let size = session.size ?? 0
            guard start == session.received, start + chunk.bytes.count <= size else {
                var failure = FacebookFailure(6001, 1_363_037, "There was a problem uploading your video file.")
                failure.data = .string(offsets(session.received, of: size, exchange).text)
                throw failure
            }
            counters.chunks += 1
            uploads[id]?.received += chunk.bytes.count
            return offsets(start + chunk.bytes.count, of: size, exchange)
        case "finish":
            let (id, session) = try self.session(exchange, of: owner)
            guard session.received == session.size else {
                throw FacebookFailure(6000, 1_363_019, "There was a problem uploading your video file.")
            }
            if !session.isPublished { counters.videos += 1 }
            uploads[id]?.isPublished = true
            return ["success": true]
        default: throw .parameter("Invalid upload_phase")
        }
    }

    private func session(
        _ exchange: FacebookExchange,
        of owner: String
    ) throws(FacebookFailure) -> (id: String, session: FacebookUploadSession) {
        let id = try exchange.required("upload_session_id")
        guard let session = uploads[id], session.owner == owner else {
            throw FacebookFailure(6000, 1_363_041, "The upload session is gone.")
        }
        return (id, session)
    }

    private func offsets(_ start: Int, of size: Int, _ exchange: FacebookExchange) -> JSONValue {
        let end = min(size, start + Int(exchange.settings.videoChunk))
        return ["start_offset": .string(String(start)), "end_offset": .string(String(end))]
    }

    /// What is known of a video; nil for an id that is none.
    func videoView(_ id: String) -> JSONValue? {
        guard let session = uploads.values.first(where: { $0.video == id }) else { return nil }
        let word = session.isPublished ? "ready" : "uploading"
        let phase = session.received == session.size ? "complete" : "in_progress"
        return [
            "status": [
                "video_status": .string(word),
                "uploading_phase": ["status": .string(phase), "bytes_transferred": .int(Int64(session.received))],
            ],
            "id": .string(id),
        ]
    }

    mutating func photo(_ exchange: FacebookExchange, for owner: String) throws(FacebookFailure) -> JSONValue {
        guard exchange.file?.field == "source" || exchange.value("url") != nil else {
            throw FacebookFailure(324, nil, "(#324) Missing or invalid image file")
        }
        counters.photos += 1
        let id = nextNumber()
        let isPublished = exchange.value("published") != "false"
        let view: JSONValue = ["id": .string(id)]
        return isPublished ? view.adding("post_id", .string("\(owner)_\(id)")) : view
    }

    // MARK: The app's files

    mutating func beginFile(_ exchange: FacebookExchange, for owner: String) throws(FacebookFailure) -> JSONValue {
        _ = try exchange.required("file_name")
        _ = try exchange.required("file_type")
        guard let size = try Int(exchange.required("file_length")), size >= 0 else { throw .parameter("file_length") }
        let id = "upload:" + random.letters(24)
        uploads[id] = FacebookUploadSession(owner: owner, size: size)
        return ["id": .string(id)]
    }

    /// The bytes of a file, or the question how many of them have come.
    mutating func file(_ exchange: FacebookExchange, _ id: String, for owner: String) throws(FacebookFailure)
        -> JSONValue
    {
        guard let session = uploads[id], session.owner == owner else { throw .missingObject }
        guard exchange.method == "POST" else {
            return ["id": .string(id), "file_offset": .int(Int64(session.received))]
        }
        let size = session.size ?? 0
        guard exchange.bytes.offset == session.received, session.received + exchange.bytes.count <= size else {
            throw .parameter("Invalid file_offset")
        }
        uploads[id]?.received += exchange.bytes.count
        guard session.received + exchange.bytes.count == size else { throw .parameter("The file is not whole") }
        counters.files += 1
        return ["h": .string("4:" + random.letters(24))]
    }

    mutating func nextNumber() -> String {
        lastUpload += 1
        return String(9_000_000_000 + lastUpload)
    }
}
