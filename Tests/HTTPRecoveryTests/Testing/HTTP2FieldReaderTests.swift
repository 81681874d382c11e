import HTTPRecoveryTesting
import Testing

/// Header blocks as they stand in RFC 7541, appendix C.
@Suite struct HTTP2FieldReaderTests {
    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal.filter { $0 != " " })
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) }
    }

    private static func text(_ fields: [HTTP2FieldReader.Field]?) -> [String]? {
        fields?.map { "\($0.name)=\($0.value)" }
    }

    private static let first = [":method=GET", ":scheme=http", ":path=/", ":authority=www.example.com"]
    private static let last = [
        ":method=GET", ":scheme=https", ":path=/index.html", ":authority=www.example.com", "custom-key=custom-value",
    ]

    @Test(arguments: [
        [
            "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", "8286 84be 5808 6e6f 2d63 6163 6865",
            "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
        ],
        [
            "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", "8286 84be 5886 a8eb 1064 9cbf",
            "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
        ],
    ])
    func blocksOfAConnectionAreRead(_ blocks: [String]) {
        var reader = HTTP2FieldReader()
        let found = blocks.map { Self.text(reader.fields(of: Self.bytes($0))) }
        #expect(found == [Self.first, Self.first + ["cache-control=no-cache"], Self.last])
    }

    @Test func aTableThatIsMadeSmallerForgets() {
        var reader = HTTP2FieldReader()
        #expect(reader.fields(of: Self.bytes("4001 6101 62be"))?.count == 2)
        #expect(reader.fields(of: Self.bytes("20be")) == nil)
        #expect(Self.text(reader.fields(of: Self.bytes("3fe1 1f40 0163 0164 be"))) == ["c=d", "c=d"])
    }

    @Test func whatIsNoBlockIsNone() {
        for block in ["80", "be", "ff", "ffffffffffff0f", "40", "4001", "000261", "007fffffffff07"] {
            var reader = HTTP2FieldReader()
            #expect(reader.fields(of: Self.bytes(block)) == nil, "\(block)")
        }
    }

    @Test func aBlockInSeveralFramesWithPaddingAndPriorityIsOne() {
        var reader = HTTP2FieldReader()
        let head = HTTP2Frame(type: 1, flags: 0x28, stream: 1, payload: [2, 0, 0, 0, 0, 16, 0x82, 0, 0])
        #expect(reader.take(head) == nil)
        #expect(reader.take(HTTP2Frame(type: 0, flags: 0, stream: 1, payload: [0x84])) == nil)
        let rest = HTTP2Frame(type: 9, flags: 4, stream: 1, payload: [0x84])
        #expect(Self.text(reader.take(rest)) == [":method=GET", ":path=/"])
    }
}
