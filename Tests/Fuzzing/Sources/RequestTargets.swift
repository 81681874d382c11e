import HTTPRecovery
import HTTPRecoveryTesting

@testable import AuthSandbox

/// What a client of the sandbox may send.
enum RequestTargets {
    static func readRequests(_ bytes: [UInt8]) {
        let whole = requests(in: bytes, by: max(1, bytes.count))
        let pieces = requests(in: bytes, by: 5)
        require(whole == pieces, "requests are the same, however they come: \(whole)")
    }

    /// Of each request head and body, and at the end why there is no other.
    private static func requests(in bytes: [UInt8], by count: Int) -> [[String]] {
        var parser = RequestParser(maximumBodyLength: 4096)
        var found: [[String]] = []
        for start in stride(from: 0, to: bytes.count, by: count) {
            parser.append(bytes[start..<min(start + count, bytes.count)])
            while true {
                switch parser.next() {
                case .incomplete: break
                case .expectsContinue: continue
                case .request(let head, let body):
                    found.append([String(decoding: head.raw, as: UTF8.self), Base64.encode(body)])
                    use(head, body)
                    continue
                case .invalid(let status, let reason): return found + [["\(status)", reason]]
                }
                break
            }
        }
        return found
    }

    private static func use(_ head: RequestParser.Head, _ body: [UInt8]) {
        let request = SandboxRequest(method: head.method, target: head.target, headers: head.headers, body: body)
        require(request.path.utf8.count <= head.target.utf8.count, "a path is of the target")
        guard let parts = MultipartParts(request) else { return }
        require(parts.fields.count <= body.count, "no field is read that is not in the body")
    }
}
