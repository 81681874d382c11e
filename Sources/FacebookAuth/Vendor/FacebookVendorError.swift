public import HTTPRecovery

/// A code of the vendor's SDK, with what stands for it here.
public protocol FacebookVendorError: Error, RawRepresentable, Sendable where RawValue == Int {
    /// The vendor's domain.
    static var domain: String { get }

    /// The kind that stands for the code here.
    var kind: Outcome.Kind { get }

    /// What helps, best first.
    var remedies: [Outcome.Remedy] { get }
}
