import HTTPTypes

extension Exchange: Redacted {
    /// Method, path and status; no query, no header field and nothing of the body.
    public var description: String {
        let end =
            switch result {
            case .response(let response, _): "\(response.status.code)"
            case .failure(let error): error.code.rawValue
            }
        return "Exchange(\(method.rawValue) \(path): \(end))"
    }
}
