// Who waits for the loop, resumed exactly once.
//
// In a debug build the runtime checks that, and tells of a second time or of none. Otherwise it does not: the check costs
// an allocation for each request.
#if DEBUG
typealias Continuation = CheckedContinuation

nonisolated(nonsending) func withContinuation<Value: Sendable>(
    _ body: (Continuation<Value, Never>) -> Void
) async -> Value {
    await withCheckedContinuation(body)
}

nonisolated(nonsending) func withThrowingContinuation<Value: Sendable>(
    _ body: (Continuation<Value, any Error>) -> Void
) async throws -> Value {
    try await withCheckedThrowingContinuation(body)
}
#else
@safe
struct Continuation<Value: Sendable, Failure: Error>: Sendable {
    private let continuation: UnsafeContinuation<Value, Failure>

    fileprivate init(_ continuation: UnsafeContinuation<Value, Failure>) {
        unsafe self.continuation = continuation
    }

    func resume(with result: Result<Value, Failure>) {
        unsafe continuation.resume(with: result)
    }

    func resume(returning value: Value) {
        unsafe continuation.resume(returning: value)
    }

    func resume(throwing error: Failure) {
        unsafe continuation.resume(throwing: error)
    }
}

extension Continuation where Value == Void {
    func resume() {
        resume(returning: ())
    }
}

@inline(__always)
nonisolated(nonsending) func withContinuation<Value: Sendable>(
    _ body: (Continuation<Value, Never>) -> Void
) async -> Value {
    await unsafe withUnsafeContinuation { body(unsafe Continuation($0)) }
}

@inline(__always)
nonisolated(nonsending) func withThrowingContinuation<Value: Sendable>(
    _ body: (Continuation<Value, any Error>) -> Void
) async throws -> Value {
    try await unsafe withUnsafeThrowingContinuation { body(unsafe Continuation($0)) }
}
#endif
