import CCurl
import HTTPRecovery

// A compressed body can expand to a thousand times its size and more (to millions with some codings), and what one
// buffer of it expands to cannot be held back: libcurl keeps it behind a pause.
extension Transfer {
    /// How many times its size a body may expand to once it is larger than the limit.
    ///
    /// What is compressed in earnest stays far below: texts and logs have 3 to 50.
    private static let largestExpansion = 100

    /// What libcurl keeps behind a pause before it is "out of memory".
    static let longestPausedBody = 64 << 20

    /// Whether a body that is longer than the limit may go on; if not, why is noted.
    func mayExpand(_ easy: EasyHandle, to count: Int) -> Bool {
        guard easy.isDecompressing else { return true }
        var received: curl_off_t = 0
        unsafe ccurl_get_offset(easy.handle, CURLINFO_SIZE_DOWNLOAD_T, &received)
        let configuration = easy.loop.configuration
        // What is being decompressed now may not be counted yet.
        let whole = Int(received).saturatingAdding(configuration.bufferSize)
        let (most, isHuge) = whole.multipliedReportingOverflow(by: Self.largestExpansion)
        if isHuge || count <= most { return true }
        facts.ownReason = .expandsTooFar(limit: configuration.maxDecompressedBytes)
        return false
    }
}

extension EasyHandle {
    /// Whether libcurl decompresses the body that is coming.
    var isDecompressing: Bool {
        guard let transfer, transfer.request.decodes else { return false }
        return unsafe ccurl_has_header(handle, "Content-Encoding")
    }
}
