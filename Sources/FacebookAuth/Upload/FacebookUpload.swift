public import HTTPRecovery

/// What is uploaded in chunks: its size, and its bytes from any place on, since the server says where to go on.
public struct FacebookUpload: Sendable {
    /// The number of bytes.
    public var size: Int64
    /// The name of the file, as it is sent along.
    public var fileName: String
    let read: @Sendable (Range<Int64>) async throws -> [UInt8]

    /// What an upload has come to.
    public struct Receipt: Sendable, Hashable {
        /// The id of what was made, such as a video's; nil if no answer has told it.
        public var id: String?
        /// The last answer: that to the publishing or, if that was lost, what the video then said about itself.
        public var answer: JSONValue

        /// Creates a receipt.
        public init(id: String?, answer: JSONValue) {
            (self.id, self.answer) = (id, answer)
        }
    }

    /// Creates an upload of bytes in memory.
    public init(_ bytes: [UInt8], fileName: String = "file") {
        self.init(size: Int64(bytes.count), fileName: fileName) { range in
            Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        }
    }

    /// Creates an upload of bytes that are read where they are needed.
    ///
    /// - Parameters:
    ///   - size: The number of bytes; at least 0.
    ///   - fileName: The name of the file.
    ///   - read: Reads the bytes of a range, which is never beyond the size; perhaps several times.
    public init(
        size: Int64,
        fileName: String = "file",
        read: @escaping @Sendable (Range<Int64>) async throws -> [UInt8]
    ) {
        self.size = max(0, size)
        self.fileName = fileName
        self.read = read
    }
}
