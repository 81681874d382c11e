public import HTTPRecovery

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Origin {
    /// The origin of an absolute URL; nil if it has no scheme or no host.
    public init?(_ url: URL) {
        guard let scheme = url.scheme, let host = url.host(percentEncoded: true), !host.isEmpty else { return nil }
        // An IPv6 address stands in brackets in an authority; `URL` takes them off.
        let name = host.utf8.contains(UInt8(ascii: ":")) && !host.hasPrefix("[") ? "[\(host)]" : host
        self.init(scheme: scheme, authority: url.port.map { "\(name):\($0)" } ?? name)
    }
}

extension URL {
    /// The origin as a URL without a path; nil if it is none that `URL` reads.
    public init?(_ origin: Origin) {
        self.init(string: origin.description)
    }
}
