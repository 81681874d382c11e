import HTTPRecovery
import HTTPTypes

/// Header lines as tests write them.
typealias Lines = [(String, String)]

/// 2026-01-01T00:00:00Z, the present of the tests.
let present = Timestamp(secondsSinceEpoch: 1_767_225_600)

/// The present as an HTTP date.
let presentDate = "Thu, 01 Jan 2026 00:00:00 GMT"

func fields(_ lines: Lines) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in lines {
        guard let name = HTTPField.Name(name) else { continue }
        fields.append(HTTPField(name: name, value: value))
    }
    return fields
}

func response(_ status: Int, _ lines: Lines = []) -> HTTPResponse {
    HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields(lines))
}

func exchange(
    _ status: Int,
    _ lines: Lines = [],
    body: String = "",
    presented: Outcome.CredentialKind? = nil,
    method: HTTPRequest.Method = .get,
    path: String = "/items"
) -> Exchange {
    Exchange(
        method: method,
        path: path,
        presented: presented,
        result: .response(response(status, lines), body: Array(body.utf8)),
        now: present
    )
}
