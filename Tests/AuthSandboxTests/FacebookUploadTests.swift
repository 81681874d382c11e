import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Facebook: uploads")
struct FacebookUploadTests {
    private var client = FacebookHarness { $0.videoChunk = 4 }

    init() { client.hold() }

    /// Sends a form with a file.
    @discardableResult
    private mutating func form(_ path: String, _ fields: [(String, String)], file: (String, String)?) -> JSONValue {
        var body = ""
        for (name, value) in fields {
            body += "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        if let (name, bytes) = file {
            body += "--b\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"f\"\r\n"
            body += "Content-Type: application/octet-stream\r\n\r\n\(bytes)\r\n"
        }
        return send("POST", path, body + "--b--\r\n", ["content-type": "multipart/form-data; boundary=b"])
    }

    @discardableResult
    private mutating func send(
        _ method: String,
        _ path: String,
        _ body: String = "",
        _ more: KeyValuePairs<String, String> = [:]
    ) -> JSONValue {
        var headers = [
            SandboxRequest.Header(name: "host", value: "127.0.0.1"),
            .init(name: "authorization", value: "OAuth \(client.token ?? "")"),
        ]
        headers += more.map { .init(name: $0.key, value: $0.value) }
        client.base.send(SandboxRequest(method: method, target: path, headers: headers, body: Array(body.utf8)))
        client.body = client.base.answer.jsonBody ?? .null
        return client.body
    }

    private mutating func transfer(_ session: String, _ start: Int, _ bytes: String) -> JSONValue {
        form(
            "/v25.0/me/videos",
            [("upload_phase", "transfer"), ("upload_session_id", session), ("start_offset", "\(start)")],
            file: ("video_file_chunk", bytes)
        )
    }

    @Test mutating func aVideoComesInChunks() {
        client.call("POST", "/v25.0/me/videos", ["upload_phase": "start", "file_size": "6"])
        let session = client.body["upload_session_id"]?.string ?? ""
        let video = client.body["video_id"]?.string ?? ""
        #expect(client.body["start_offset"] == "0" && client.body["end_offset"] == "4" && !video.isEmpty)
        #expect(transfer(session, 0, "abcd")["start_offset"] == "4")
        // What comes to another place than the next is told where that is.
        _ = transfer(session, 0, "abcd")
        #expect(client.code == 6001 && client.subcode == 1_363_037)
        #expect(client.body["error"]?["error_data"]?.string == #"{"start_offset":"4","end_offset":"6"}"#)
        client.call("GET", "/v25.0/\(video)?fields=status")
        #expect(client.body["status"]?["video_status"] == "uploading")
        client.call("POST", "/v25.0/me/videos", ["upload_phase": "finish", "upload_session_id": session])
        #expect(client.code == 6000 && client.counters.videos == 0)
        #expect(transfer(session, 4, "ef")["end_offset"] == "6")
        client.call("POST", "/v25.0/me/videos", ["upload_phase": "finish", "upload_session_id": session])
        #expect(client.body == ["success": true] && client.counters.videos == 1 && client.counters.chunks == 2)
        client.call("GET", "/v25.0/\(video)?fields=status")
        #expect(client.body["status"]?["video_status"] == "ready")
        // Another's session is none.
        client.call("POST", "/v25.0/me/videos", ["upload_phase": "finish", "upload_session_id": "x"])
        #expect(client.code == 6000 && client.subcode == 1_363_041)
    }

    @Test mutating func aPhotoNeedsAnImage() {
        form("/v25.0/me/photos", [("caption", "x")], file: ("source", "PNG"))
        #expect(client.status == 200 && client.body["post_id"] != nil)
        form("/v25.0/me/photos", [("published", "false")], file: ("source", "PNG"))
        #expect(client.status == 200 && client.body["post_id"] == nil && client.counters.photos == 2)
        form("/v25.0/me/photos", [("caption", "x")], file: nil)
        #expect(client.code == 324)
    }

    @Test mutating func aFileGoesOnWhereItIs() {
        let app = client.settings.appID
        client.call("POST", "/v25.0/\(app)/uploads?file_name=a&file_length=6&file_type=image%2Fpng")
        let id = client.body["id"]?.string ?? ""
        #expect(id.hasPrefix("upload:"))
        send("POST", "/v25.0/\(id)", "abcd", ["file_offset": "0"])
        #expect(client.status == 400)
        #expect(send("GET", "/v25.0/\(id)")["file_offset"] == 4)
        send("POST", "/v25.0/\(id)", "abcdef", ["file_offset": "0"])
        #expect(client.status == 400)
        #expect(send("POST", "/v25.0/\(id)", "ef", ["file_offset": "4"])["h"]?.string?.isEmpty == false)
        #expect(client.counters.files == 1)
        // It belongs to whoever has begun it.
        client.token = client.control("issue", #"{"user": "grace@example.com"}"#)["access_token"]?.string
        send("GET", "/v25.0/\(id)")
        #expect(client.code == 100 && client.subcode == 33)
    }

    @Test mutating func aReelGoesToAnotherPlace() {
        client.call("POST", "/v25.0/me/video_reels", ["upload_phase": "start"])
        let video = client.body["video_id"]?.string ?? ""
        #expect(client.body["upload_url"]?.string?.hasSuffix("/video-upload/v25.0/\(video)") == true)
        let path = "/video-upload/v25.0/\(video)"
        send("POST", path, "abcd", ["offset": "0", "file_size": "6"])
        #expect(client.status == 400)
        client.call("GET", "/v25.0/\(video)?fields=status")
        #expect(client.body["status"]?["uploading_phase"] == ["status": "in_progress", "bytes_transferred": 4])
        client.call("POST", "/v25.0/me/video_reels", ["upload_phase": "finish", "video_id": video])
        #expect(client.code == 6000 && client.counters.videos == 0)
        // Neither another place than the next, nor another length than was said.
        send("POST", path, "cd", ["offset": "2", "file_size": "6"])
        #expect(client.status == 400)
        send("POST", path, "efg", ["offset": "4", "file_size": "7"])
        #expect(client.status == 400)
        #expect(send("POST", path, "ef", ["offset": "4", "file_size": "6"])["success"] == true)
        client.call("POST", "/v25.0/me/video_reels", ["upload_phase": "finish", "video_id": video])
        #expect(client.body == ["success": true] && client.counters.videos == 1)
        client.call("GET", "/v25.0/\(video)?fields=status")
        #expect(client.body["status"]?["video_status"] == "ready")
    }
}
