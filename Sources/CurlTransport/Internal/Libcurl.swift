import CCurl

/// The libcurl that is in use, which may be another than the one this was compiled with.
enum Libcurl {
    /// Its version, two hexadecimal digits for each of the three numbers: 0x080e01 is 8.14.1.
    static let number: UInt32 = ccurl_version_number()

    /// Its version as it says it.
    static let version = unsafe ccurl_version_text().map { unsafe String(cString: $0) } ?? ""

    static let hasHTTP2 = ccurl_has_http2()
    static let hasHTTP3 = ccurl_has_http3()
}
