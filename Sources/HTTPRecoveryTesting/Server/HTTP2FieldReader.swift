/// Reads the header blocks of one connection of HTTP/2 (RFC 7541), in the order in which they come.
package struct HTTP2FieldReader: Sendable {
    package typealias Field = (name: String, value: String)

    /// The fields that the client may name by a number, the newest first, and how much room they may take.
    private var recent: [Field] = []
    private var room = 4096
    /// What has come of a block.
    private var block: [UInt8] = []

    package init() {}

    /// Takes a frame; returns the fields of the block that ends with it, and nil if none does.
    package mutating func take(_ frame: HTTP2Frame) -> [Field]? {
        guard frame.type == 1 || frame.type == 9 else { return nil }
        var fragment = frame.payload[...]
        if frame.type == 1 {
            block = []
            // Padding, then a priority (RFC 9113, section 6.2).
            if frame.flags & 8 != 0, let padding = fragment.popFirst() { fragment = fragment.dropLast(Int(padding)) }
            if frame.flags & 0x20 != 0 { fragment = fragment.dropFirst(5) }
        }
        block += fragment
        guard frame.flags & 4 != 0 else { return nil }
        defer { block = [] }
        return fields(of: block)
    }

    /// The fields of a whole block; nil for what is none.
    package mutating func fields(of block: [UInt8]) -> [Field]? {
        var rest = block[...]
        var fields: [Field] = []
        while let first = rest.first {
            if first & 0x80 != 0 {
                guard let index = Self.integer(&rest, bits: 7), let field = entry(index) else { return nil }
                fields.append(field)
            } else if first & 0xe0 == 0x20 {
                guard let size = Self.integer(&rest, bits: 5) else { return nil }
                room = size
                evict()
            } else {
                let isKept = first & 0x40 != 0
                guard let index = Self.integer(&rest, bits: isKept ? 6 : 4),
                    let name = index == 0 ? Self.string(&rest) : entry(index)?.name, let value = Self.string(&rest)
                else { return nil }
                fields.append((name, value))
                guard isKept else { continue }
                recent.insert((name, value), at: 0)
                evict()
            }
        }
        return fields
    }

    private func entry(_ index: Int) -> Field? {
        if index < 1 { return nil }
        if index < Self.known.count { return Self.known[index] }
        return index - Self.known.count < recent.count ? recent[index - Self.known.count] : nil
    }

    private mutating func evict() {
        var size = 0
        let fitting = recent.prefix { field in
            size += field.name.utf8.count + field.value.utf8.count + 32
            return size <= room
        }
        recent = Array(fitting)
    }

    /// A number whose first bits stand at the end of a byte (section 5.1).
    private static func integer(_ rest: inout ArraySlice<UInt8>, bits: Int) -> Int? {
        guard let first = rest.popFirst() else { return nil }
        let most = 1 << bits - 1
        var number = Int(first) & most
        if number < most { return number }
        for shift in stride(from: 0, through: 28, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            number += Int(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return number }
        }
        return nil
    }

    /// A text, coded by Huffman or as it stands (section 5.2).
    private static func string(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard let first = rest.first, let length = integer(&rest, bits: 7), length <= rest.count else { return nil }
        let bytes = rest.prefix(length)
        rest = rest.dropFirst(length)
        return String(decoding: first & 0x80 == 0 ? Array(bytes) : plain(bytes), as: UTF8.self)
    }

    /// What bytes coded by Huffman stand for; an unfinished code at the end is padding.
    private static func plain(_ coded: ArraySlice<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        // The code so far, the first code of its length, and the place of that one's symbol.
        var (code, length, first, place) = (0, 0, 0, 0)
        for byte in coded {
            for shift in stride(from: 7, through: 0, by: -1) {
                code = code << 1 | Int(byte >> UInt8(shift)) & 1
                first <<= 1
                length += 1
                guard length < counts.count else { return plain }
                if code - first < counts[length] {
                    plain.append(UInt8(truncatingIfNeeded: symbols[place + code - first]))
                    (code, length, first, place) = (0, 0, 0, 0)
                } else {
                    place += counts[length]
                    first += counts[length]
                }
            }
        }
        return plain
    }

    /// How many bits the code of each byte has, and that of the end (RFC 7541, appendix B).
    ///
    /// `a` is 5. Codes of the same length follow each other, and so do the lengths.
    private static let lengths: [Int] =
        ("isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhf"
        + "ibccccccccccccccccccccccdcdioijbkabababbbaccbbbabcbaabccccckgjix"
        + "prpprrrsrssssststtrstssssqrsrsstrqprrssqsrrtqrssqqrqsrssprrrsrrs"
        + "vvporsruvvvwwvtuoqvwwvwtqqvvxwwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwvz").utf8.map { Int($0) - 92 }
    private static let symbols = lengths.indices.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
    private static let counts = (0...30).map { length in lengths.count { $0 == length } }

    /// The fields that every connection knows (appendix A), counted from 1.
    private static let known: [Field] =
        [
            ("", ""), (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
            (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"), (":status", "200"),
            (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"), (":status", "404"),
            (":status", "500"), ("accept-charset", ""), ("accept-encoding", "gzip, deflate"),
        ]
        + [
            "accept-language", "accept-ranges", "accept", "access-control-allow-origin", "age", "allow",
            "authorization", "cache-control", "content-disposition", "content-encoding", "content-language",
            "content-length", "content-location", "content-range", "content-type", "cookie", "date", "etag", "expect",
            "expires", "from", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
            "if-unmodified-since", "last-modified", "link", "location", "max-forwards", "proxy-authenticate",
            "proxy-authorization", "range", "referer", "refresh", "retry-after", "server", "set-cookie",
            "strict-transport-security", "transfer-encoding", "user-agent", "vary", "via", "www-authenticate",
        ].map { ($0, "") }
}
