public import HTTPRecovery

/// The codes of the vendor's share domain (`com.facebook.sdk.share`) and what stands for them here.
public enum FacebookShareError: Int, Sendable, Hashable, CaseIterable, FacebookVendorError {
    /// Not used.
    case reserved = 200
    /// An Open Graph object was not accepted.
    case openGraph = 201
    /// The dialog cannot be shown.
    case dialogNotAvailable = 202
    /// Something else.
    case unknown = 203

    /// The vendor's domain.
    public static var domain: String { "com.facebook.sdk.share" }

    /// The kind that stands for the code here.
    public var kind: Outcome.Kind {
        switch self {
        case .reserved, .unknown: .unknown
        case .openGraph: .invalidRequest
        case .dialogNotAvailable: .factorUnavailable
        }
    }

    /// What helps, best first.
    public var remedies: [Outcome.Remedy] {
        switch self {
        case .reserved, .unknown: []
        case .openGraph: [.fixRequest]
        case .dialogNotAvailable: [.switchFactor]
        }
    }
}
