extension RecoveryError {
    /// Whether no connection could be made, as on a machine without a network: the server has seen nothing of the call.
    ///
    /// It tells nothing about credentials or sessions, which are what they were.
    public var isOffline: Bool {
        guard let code = outcome.transportError?.code else { return false }
        return code == .cannotResolve || code == .cannotConnect
    }
}
