/// Whether the bodies of an origin's responses are large, by the last ones; a value without libcurl.
struct BodySizes {
    /// libcurl's own size of a receive buffer; what is larger is a large body.
    static let small = 16_384
    /// How many small ones in a row it takes to forget the last large one.
    static let memory = 64

    /// How many more small bodies there have to be.
    private var patience = 0

    /// Takes note of a body that has come.
    mutating func note(_ count: Int) {
        if count > Self.small {
            patience = Self.memory
        } else if patience > 0 {
            patience -= 1
        }
    }

    /// The size of the buffer for the next response.
    func bufferSize(atMost limit: Int) -> Int {
        patience > 0 ? limit : min(limit, Self.small)
    }
}
