#if !Redis
/// What the compiler says where the trait is missing.
@available(*, unavailable, message: "it needs the package's trait: .package(…, traits: [\"Redis\"])")
public struct RedisStore {
    /// Cannot be called.
    public init(url: String) {}
}
#endif
