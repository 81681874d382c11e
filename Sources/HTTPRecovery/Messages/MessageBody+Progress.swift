extension MessageBody {
    /// How far a reading of a body has come.
    public struct Progress: Sendable, Hashable {
        /// The bytes that were handed to the reader until now.
        public var byteCount: Int

        /// The bytes of the whole body; nil if that is not known beforehand.
        public var length: Int?

        /// Creates a progress.
        public init(byteCount: Int, length: Int? = nil) {
            self.byteCount = byteCount
            self.length = length
        }

        /// The part that has been read, from 0 to 1; nil if the length is not known.
        public var fraction: Double? {
            guard let length else { return nil }
            return length > 0 ? Swift.min(1, Double(byteCount) / Double(length)) : 1
        }
    }

    /// The same body, which tells how far each reading of it has come.
    ///
    /// For a request's body that is what the transport has taken to send it, a little ahead of what the server has got.
    /// Each attempt reads the body from its start, and the count begins again with it. For a response's body it is what
    /// the caller has read. Pieces of a body in memory are of 64 KiB at most; the body stays as long and as replayable as
    /// it is.
    ///
    /// - Parameter report: Called with each piece before it is handed on, by whoever reads; it must not block.
    public func onProgress(_ report: @escaping @Sendable (Progress) -> Void) -> MessageBody {
        let length = length
        return inPieces.wrapping { iterator in
            var progress = Progress(byteCount: 0, length: length)
            return iterator.noting {
                guard case .success(let chunk?) = $0 else { return }
                progress.byteCount += chunk.count
                report(progress)
            }
        }
    }
}
