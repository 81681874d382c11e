extension OAuthServer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The issuer, or what is known in its place; no URL, since a query may hold a key.
    public var description: String {
        "OAuthServer(\(issuer ?? "endpoints given by hand"))"
    }

    /// The same.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
