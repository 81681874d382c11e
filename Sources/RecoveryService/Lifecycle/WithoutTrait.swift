#if !ServiceLifecycle
public import AuthRecovery
public import HTTPRecovery

/// What the compiler says where the trait is missing.
@available(*, unavailable, message: "it needs the package's trait: .package(…, traits: [\"ServiceLifecycle\"])")
public struct ClientService {
    /// Cannot be called.
    public init(_ client: RecoveringClient) {}

    /// Cannot be called.
    public init(_ client: RecoveringClient, drainingWithin limit: Duration) {}
}

/// What the compiler says where the trait is missing.
@available(*, unavailable, message: "it needs the package's trait: .package(…, traits: [\"ServiceLifecycle\"])")
public struct RenewalService {
    /// Cannot be called.
    public init(_ tokens: TokenManager, by client: RecoveringClient) {}
}

/// What the compiler says where the trait is missing.
@available(*, unavailable, message: "it needs the package's trait: .package(…, traits: [\"ServiceLifecycle\"])")
public struct DrainingService<Work> {
    /// Cannot be called.
    public init(_ work: Work, by client: RecoveringClient) {}

    /// Cannot be called.
    public init(_ work: Work, by client: RecoveringClient, within limit: Duration) {}
}

/// What the compiler says where the trait is missing.
@available(*, unavailable, message: "it needs the package's trait: .package(…, traits: [\"ServiceLifecycle\"])")
public struct StoreService {
    /// Cannot be called.
    public init(_ state: SharedState) {}
}
#endif
