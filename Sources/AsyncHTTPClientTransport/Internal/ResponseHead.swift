#if AsyncHTTPClient
import HTTPRecovery
import HTTPTypes
import NIOHTTP1

/// The client's head of a response as the transport hands it on.
enum ResponseHead {
    /// The same head; nil if its status cannot be one.
    static func make(_ head: HTTPResponseHead) -> HTTPResponse? {
        let code = head.status.code
        guard (100...999).contains(code) else { return nil }
        // The type accepts only printable text here, and replaces the rest itself.
        let status = HTTPResponse.Status(code: Int(code), reasonPhrase: head.status.reasonPhrase)
        return HTTPResponse(status: status, headerFields: fields(head.headers))
    }

    /// The same fields, in their order.
    static func fields(_ headers: HTTPHeaders) -> HTTPFields {
        var fields = HTTPFields()
        fields.reserveCapacity(headers.count)
        for (name, value) in headers {
            guard let name = HTTPField.Name(name) else { continue }
            // Appended, so that fields of the same name all stay; the client's parser leaves blanks at the end.
            let value = Array(value.utf8)[...].trimming(\.isOWS)
            fields.append(HTTPField(name: name, lenientValue: value))
        }
        return fields
    }

    /// The length of the body, if the head states it.
    static func contentLength(of head: HTTPResponse) -> Int? {
        guard let value = head.headerFields[.contentLength], value.utf8.count < 19, !value.isEmpty,
            value.utf8.allSatisfy(\.isDigit)
        else { return nil }
        return Int(value)
    }

    /// Whether the client's decompressor undoes the content coding.
    static func isDecoded(_ head: HTTPResponse) -> Bool {
        let coding = head.headerFields[.contentEncoding]?.inLowercase
        return coding == "gzip" || coding == "deflate"
    }
}
#endif
