import HTTPRecovery

@testable import AsyncHTTPClientTransport

/// What AsyncHTTPClient's connections hand over.
enum HeadScannerTargets {
    static func scanHead(_ bytes: [UInt8]) {
        let whole = scan(bytes, by: bytes.count)
        for size in [1, 7] {
            let scanner = scan(bytes, by: size)
            require(
                scanner.count == whole.count && scanner.sawStatus == whole.sawStatus
                    && scanner.isActive == whole.isActive,
                "a head is the same in pieces of \(size)"
            )
        }
        require(whole.count <= bytes.count, "no byte counts twice")
        guard !whole.isActive else {
            return require(whole.count == bytes.count, "a head that is under way goes to the end")
        }
        require(whole.sawStatus, "a head has a status")
        let head = bytes[..<whole.count]
        require(head.last == 0x0A, "a head ends with a line")
        require(head.range(of: "HTTP/".utf8) != nil, "a status stands in a status line")
        require(scan(Array(head), by: 3).count == head.count, "what comes behind a head changes nothing of it")
    }

    private static func scan(_ bytes: [UInt8], by size: Int) -> HeadScanner {
        var scanner = HeadScanner(isActive: true)
        var rest = bytes[...]
        while !rest.isEmpty {
            scanner.read(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return scanner
    }
}
