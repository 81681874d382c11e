extension MessageBody {
    /// Why a body could not be read.
    @nonexhaustive public enum ReadError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The body is a one-shot stream that has been read already.
        case alreadyConsumed
        /// The body has more bytes than the reader accepts.
        case tooLarge(limit: Int)
        /// A file body could not be opened or read; the number is the system's `errno`.
        case unreadableFile(path: String, errno: Int32)

        /// A sentence for logs.
        public var description: String {
            switch self {
            case .alreadyConsumed: "the body is a stream that was read before; it cannot be read a second time"
            case .tooLarge(let limit): "the body is larger than the limit of \(limit) bytes"
            case .unreadableFile(let path, let errno): "the file \(path) cannot be read (\(errno.systemErrorText))"
            }
        }
    }
}
