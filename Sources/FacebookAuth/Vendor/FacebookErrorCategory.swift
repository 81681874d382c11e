/// The category of an error in the vendor's SDKs.
public enum FacebookErrorCategory: Int, Sendable, Hashable, CaseIterable {
    /// Neither passing nor cured by a sign-in.
    case other = 0
    /// Passing: the SDKs repeat the request at once; here it is repeated after a pause, and a limit is waited for.
    case transient = 1
    /// Cured by a sign-in.
    case recoverable = 2
}
