#if !AsyncHTTPClient
/// What the compiler says where the trait is missing.
@available(*, unavailable, message: "it needs the package's trait: .package(…, traits: [\"AsyncHTTPClient\"])")
public struct AsyncHTTPClientTransport {
    /// Cannot be called.
    public init() {}
}
#endif
