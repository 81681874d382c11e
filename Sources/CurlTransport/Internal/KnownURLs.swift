import CCurl

/// A URL as libcurl has parsed it, for all transfers that ask for it.
///
/// Of a text libcurl makes this for each transfer, and prints the URL anew from it: a sixth of its work for a small request.
/// It is confined to the loop's thread.
@safe
final class ParsedURL {
    let handle: OpaquePointer
    fileprivate let text: [UInt8]

    /// - Parameter text: The URL, ended by a zero byte. What libcurl does not take for one makes nil.
    fileprivate init?(_ text: UnsafeBufferPointer<UInt8>) {
        guard let handle = unsafe curl_url() else { return nil }
        let characters = unsafe UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)
        // The path is the caller's, dots and all: its signature may cover it.
        guard unsafe curl_url_set(handle, CURLUPART_URL, characters, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK else {
            unsafe curl_url_cleanup(handle)
            return nil
        }
        unsafe self.handle = handle
        self.text = unsafe Array(text)
    }

    deinit {
        unsafe curl_url_cleanup(handle)
    }
}

/// URLs that have been asked for before.
///
/// Those with a query are not kept: it may hold a secret, and seldom comes again.
struct KnownURLs {
    /// By a part of their bytes; one that falls on another's place takes it.
    private var places = [ParsedURL?](repeating: nil, count: 64)

    /// The URL that a text with its zero byte stands for; nil if libcurl takes it for none.
    mutating func url(_ text: UnsafeBufferPointer<UInt8>) -> ParsedURL? {
        guard text.count >= 16, unsafe !text.contains(UInt8(ascii: "?")) else {
            return unsafe ParsedURL(text)
        }
        let place = unsafe Self.hash(text) % places.count
        if let known = places[place], unsafe text.isEqual(to: known.text) { return known }
        let url = unsafe ParsedURL(text)
        if let url { places[place] = url }
        return url
    }

    /// A number that depends on the length and on 16 bytes in the middle and at the end.
    private static func hash(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        let bytes = UnsafeRawBufferPointer(text)
        let middle = unsafe bytes.loadUnaligned(fromByteOffset: bytes.count / 2 - 4, as: UInt64.self)
        let last = unsafe bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
        let mixed = (middle &+ UInt64(bytes.count)) &* 0x9e37_79b9_7f4a_7c15 ^ last &* 0xc2b2_ae3d_27d4_eb4f
        return Int(truncatingIfNeeded: mixed >> 40)
    }
}
