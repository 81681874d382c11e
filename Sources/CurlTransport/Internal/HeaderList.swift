import CCurl
import Glibc

/// libcurl's list of a request's header lines: list nodes and the bytes that they point to, in memory that the next request
/// has again.
@safe
struct HeaderList {
    private var nodes = unsafe UnsafeMutableBufferPointer<curl_slist>(start: nil, count: 0)
    private var bytes = unsafe UnsafeMutableBufferPointer<CChar>(start: nil, count: 0)

    /// The list, valid until it is made for another transfer; nil if there are no lines.
    mutating func list(of transfer: Transfer) -> UnsafeMutablePointer<curl_slist>? {
        let (start, count) = transfer.request.headers
        guard count > 0, start < transfer.text.count else { return nil }
        reserve(nodes: count, bytes: transfer.text.count - start)
        // There is room for all of it; the bytes do not leave the closure.
        unsafe transfer.text.withUnsafeBytes { text in
            unsafe UnsafeMutableRawBufferPointer(bytes).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: text[start...])
            )
        }
        // Each line ends in a zero byte, so there are exactly `count` nodes.
        guard var line = unsafe bytes.baseAddress else { return nil }
        for index in 0..<count {
            let next = unsafe index + 1 < count ? nodes.baseAddress.map { unsafe $0 + index + 1 } : nil
            unsafe nodes[index] = curl_slist(data: line, next: next)
            unsafe line += strlen(line) + 1
        }
        return unsafe nodes.baseAddress
    }

    mutating func free() {
        unsafe nodes.deallocate()
        unsafe bytes.deallocate()
        unsafe nodes = .init(start: nil, count: 0)
        unsafe bytes = .init(start: nil, count: 0)
    }

    private mutating func reserve(nodes nodeCount: Int, bytes byteCount: Int) {
        if unsafe nodes.count < nodeCount {
            unsafe nodes.deallocate()
            unsafe nodes = .allocate(capacity: max(8, nodeCount))
            unsafe nodes.initialize(repeating: curl_slist())
        }
        if unsafe bytes.count < byteCount {
            unsafe bytes.deallocate()
            unsafe bytes = .allocate(capacity: max(256, byteCount))
            unsafe bytes.initialize(repeating: 0)
        }
    }
}
