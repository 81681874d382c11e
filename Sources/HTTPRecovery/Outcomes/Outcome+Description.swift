/// Messages and details come from the provider and may hold anything.
extension Outcome: Redacted {
    /// Words and numbers that are safe to log; no message, advice or detail of the provider.
    public var description: String {
        var parts = [kind.rawValue]
        if let status { parts.append("status=\(status)") }
        if let code = loggableCode { parts.append("code=\(code)") }
        parts.append("scope=\(scope.rawValue) processed=\(processed.rawValue)")
        if let statedWait { parts.append("retry_after=\(statedWait)") }
        if !remedies.isEmpty { parts.append("remedies=\(remedies.map(\.rawValue).joined(separator: ","))") }
        return "Outcome(\(parts.joined(separator: " ")))"
    }
}
