import HTTPRecovery
import HTTPTypes

@testable import CurlTransport

/// What libcurl hands over.
enum CurlTargets {
    static func readHead(_ bytes: [UInt8]) {
        if let head = ResponseHead.parse(bytes) {
            require((100...999).contains(head.status.code), "a status has three digits")
            _ = ResponseHead.contentLength(of: head)
            for field in head.headerFields {
                require(!field.value.utf8.contains { $0 == 0x0A || $0 == 0x00 }, "no field holds an end of line")
            }
        }
        var reception = HeadReception()
        var rest = bytes[...]
        lines: while !rest.isEmpty {
            let count = (rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex) - rest.startIndex
            let line = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            switch unsafe line.withUnsafeBufferPointer({ unsafe reception.take($0, upTo: 4096) }) {
            case .refused: break lines
            case .complete: _ = ResponseHead.parse(reception.takeBytes())
            case .more: continue
            }
        }
    }

    static func readLog(_ bytes: [UInt8]) {
        let line = unsafe bytes.withUnsafeBufferPointer { unsafe RefusalEvidence.LogLine($0) }
        switch line {
        case .refused, .retrying:
            // What proves that nothing was processed is one of libcurl's own lines, and nobody else's.
            require(bytes.first.map { "RCH".utf8.contains($0) } ?? false, "nothing else proves a refusal")
        case .stream(let number), .goAway(let number): require(number >= 0, "streams have numbers")
        default: break
        }
    }
}
