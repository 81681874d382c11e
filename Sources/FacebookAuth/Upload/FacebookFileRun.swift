import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Performs the calls of a file that goes out in one request.
struct FacebookFileRun: Sendable {
    let facebook: Facebook
    let file: FacebookUpload
    let type: String?
    let protocols: FacebookFileProtocol
    let token: FacebookToken
    let responder: (any ChallengeResponder)?
    /// What all calls present their token with: an upload goes on for the same person only.
    let authorization: FacebookAuthorization

    func perform(_ step: FacebookFilePlan.Step) async throws -> FacebookFilePlan.Answer {
        switch step {
        case .begin:
            var query: FormFields = ["file_name": file.fileName]
            query.add("file_length", String(file.size))
            query.add("file_type", type)
            // A session that nobody uses does no harm.
            return try await send(
                GraphAPI.Call(
                    method: .post,
                    path: FormFields.encode(segment: facebook.api.app.id) + "/uploads",
                    query: query,
                    token: token,
                    resend: .replayable
                )
            )
        case .send(let address, let offset):
            var call = try call(.post, to: address)
            switch protocols {
            case .app: call.headerFields.set("file_offset", String(offset))
            case .named:
                call.headerFields.set("offset", String(offset))
                call.headerFields.set("file_size", String(file.size))
            }
            call.body = ProviderRequest.Content(file.body(from: offset), type: "application/octet-stream")
            // How much of it came is asked before anything of it is sent again.
            call.resend = .spending
            return try await send(call)
        case .ask(let address):
            if case .named(_, let object) = protocols {
                let path = FormFields.encode(segment: object)
                return try await send(GraphAPI.Call(path: path, query: ["fields": "status"], token: token))
            }
            return try await send(call(.get, to: address))
        }
    }

    private func call(_ method: HTTPRequest.Method, to address: String) throws -> GraphAPI.Call {
        guard case .named(let url, _) = protocols else {
            return GraphAPI.Call(method: method, path: address, token: token, isOfFile: true)
        }
        guard var request = try? HTTPRequest(url: url), facebook.api.trusts(Origin(of: request)) else {
            var outcome = Outcome(.invalidRequest, processed: .no, remedies: [.fixRequest])
            outcome.parameter = "upload_url"
            throw RecoveryError(outcome: outcome, reason: .notRecoverable)
        }
        request.method = method
        return GraphAPI.Call(method: method, path: "", request: request, token: token, isOfFile: true)
    }

    private func send(_ call: GraphAPI.Call) async throws -> FacebookFilePlan.Answer {
        let response = try await facebook.recovering(
            token,
            responder,
            continuing: authorization,
            isRead: call.isRead
        ) { authorization, api in try await api.send(call, authorization: authorization) }
        return FacebookFilePlan.Answer(json: try facebook.api.json(in: response), response: response)
    }
}

extension HTTPFields {
    fileprivate mutating func set(_ name: String, _ value: String) {
        if let name = HTTPField.Name(name) { self[name] = value }
    }
}

extension FacebookUpload {
    /// The bytes from an offset on, read as they are sent.
    func body(from offset: Int64) -> MessageBody {
        MessageBody(length: Int(clamping: size - offset)) { Chunks(upload: self, start: offset) }
    }

    private struct Chunks: AsyncSequence, Sendable {
        typealias Element = ArraySlice<UInt8>

        /// How much is read at once.
        private static let length: Int64 = 1 << 20

        let upload: FacebookUpload
        let start: Int64

        struct AsyncIterator: AsyncIteratorProtocol {
            let upload: FacebookUpload
            var offset: Int64

            mutating func next() async throws -> ArraySlice<UInt8>? {
                guard offset < upload.size else { return nil }
                let end = Swift.min(offset + Chunks.length, upload.size)
                let bytes = try await upload.read(offset..<end)
                offset = end
                return bytes[...]
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(upload: upload, offset: start) }
    }
}
