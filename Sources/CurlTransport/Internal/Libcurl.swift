import CCurl

/// The libcurl that is in use, which may be another than the one this was compiled with.
enum Libcurl {
    /// Its version, two hexadecimal digits for each of the three numbers: 0x080e01 is 8.14.1.
    static let number: UInt32 = ccurl_version_number()

    /// Its version as it says it.
    static let version = unsafe ccurl_version_text().map { unsafe String(cString: $0) } ?? ""

    /// Whether it sends what resets a stream of HTTP/2 when it has given the stream up.
    ///
    /// From 7.88 to 8.14 it leaves that until it has something else to send on the connection.
    static let sendsResets = number < 0x075800 || number >= 0x080f00

    static let hasHTTP2 = ccurl_has_feature(CURL_VERSION_HTTP2)
    static let hasHTTP3 = ccurl_has_feature(CURL_VERSION_HTTP3)

    /// The content codings that it undoes, as it would ask for them itself.
    static let contentCodings: String = {
        var codings: [String] = []
        if ccurl_has_feature(CURL_VERSION_LIBZ) { codings += ["deflate", "gzip"] }
        if ccurl_has_feature(CURL_VERSION_BROTLI) { codings.append("br") }
        if ccurl_has_feature(CURL_VERSION_ZSTD) { codings.append("zstd") }
        return codings.isEmpty ? "identity" : codings.joined(separator: ", ")
    }()
}
