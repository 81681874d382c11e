#if OpenAPI
import HTTPRecovery
import OpenAPIRuntime

extension MessageBody {
    /// The same body: it streams, can be read as often, and has the same length.
    init(_ body: HTTPBody) {
        var length: Int?
        if case .known(let count) = body.length, count >= 0 { length = Int(exactly: count) }
        switch body.iterationBehavior {
        case .multiple: self.init(length: length) { body }
        case .single: self.init(once: body, length: length)
        }
    }
}

extension HTTPBody {
    /// The same body: it streams, can be read as often, and has the same length.
    convenience init(_ body: MessageBody) {
        self.init(
            body,
            length: body.length.map { .known(Int64($0)) } ?? .unknown,
            iterationBehavior: body.replayability == .replayable ? .multiple : .single
        )
    }
}
#endif
