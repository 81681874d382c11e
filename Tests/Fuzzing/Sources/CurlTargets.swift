import HTTPRecovery
import HTTPTypes

@testable import CurlTransport

/// What libcurl hands over.
enum CurlTargets {
    static func readHead(_ bytes: [UInt8]) {
        // What is known of the first reading must not change the second.
        var known = KnownLines()
        let first = head(bytes, &known)
        require(first == head(bytes, &known), "a head that is known is read as before")
        guard let first else { return }
        require((100...999).contains(first.status.code), "a status has three digits")
        _ = ResponseHead.contentLength(of: first)
        for field in first.headerFields {
            require(!field.value.utf8.contains { $0 == 0x0A || $0 == 0x00 }, "no field holds an end of line")
        }
    }

    /// Reads line by line, as libcurl hands them over, also what comes behind the head.
    private static func head(_ bytes: [UInt8], _ known: inout KnownLines) -> HTTPResponse? {
        var (reception, rest) = (HeadReception(), bytes[...])
        while !rest.isEmpty {
            let count = (rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex) - rest.startIndex
            let line = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            if unsafe line.withUnsafeBufferPointer({ unsafe reception.take($0, upTo: 4096, &known) }) == .refused {
                break
            }
        }
        _ = reception.takeTrailers()
        return reception.takeResponse()
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
