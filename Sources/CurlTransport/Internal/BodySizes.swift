/// How large the bodies of an origin's responses are, by the last ones; a value without libcurl.
struct BodySizes {
    /// libcurl's own size of a receive buffer; what is larger is a large body.
    static let small = 16_384
    /// The least that libcurl takes for a receive buffer.
    static let least = 1024
    /// What fits into the least buffer with a head before it.
    static let tiny = 512
    /// From how many transfers on their buffers are what they cost: of 10,000 that wait for an answer, each has 3 KiB less
    /// with the least one.
    static let many = 256
    /// How many smaller ones in a row it takes to forget the last larger one.
    static let memory = 64

    /// What the running transfers of a loop have equal shares of, to receive ahead of readers who are going to want it.
    private static let mostAhead = 4 << 20

    /// How much of a body is received before its reader comes, who is going to want so much, where the transport's own buffer
    /// is smaller.
    static func ahead(of wanted: Int, beside running: Int) -> Int { min(wanted, mostAhead / max(1, running)) }

    /// How many more bodies have to be none that is large, and none that is more than tiny.
    private var patience = (large: 0, small: 0)

    /// Takes note of a body that has come.
    mutating func note(_ count: Int) {
        patience.large = count > Self.small ? Self.memory : max(0, patience.large - 1)
        patience.small = count > Self.tiny ? Self.memory : max(0, patience.small - 1)
    }

    /// The size of the buffer for the next response, beside so many that are awaited.
    func bufferSize(atMost limit: Int, beside running: Int) -> Int {
        if patience.large > 0 { return limit }
        return min(limit, patience.small > 0 || running < Self.many ? Self.small : Self.least)
    }
}
