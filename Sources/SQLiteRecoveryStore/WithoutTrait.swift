#if !SQLite
/// What the compiler says where the trait is missing.
@available(*, unavailable, message: "it needs the package's trait: .package(…, traits: [\"SQLite\"])")
public struct SQLiteStore {
    /// Cannot be called.
    public init(path: String, namespace: String = "") {}
}
#endif
