extension TransportError {
    /// What it means that the body of a response broke off: an error that is not the transport's own is one all the same.
    init(ofBody error: any Error) {
        self =
            error as? TransportError
            ?? TransportError(.other, .answered, message: "the response body broke off: \(type(of: error))")
    }
}
