import ArgumentParser
import CurlTransport

extension NetworkOptions {
    /// The hosts of `--noproxy`.
    var hostsWithoutProxy: [String] { noproxy.map { $0.split(separator: ",").map(String.init) } ?? [] }

    /// The first of the options that were written and that libcurl alone can fulfil, by its name; nil for none.
    public var firstOfCurlAlone: String? {
        let options: [(name: String, isWritten: Bool)] = [
            ("--cert", cert != nil), ("--key", key != nil), ("--key-pass-env", passphraseVariable != nil),
            ("--pinnedpubkey", pinnedpubkey != nil), ("--tlsv1.2 or --tlsv1.3", lowestTLS != nil),
            ("--unix-socket", unixSocket != nil), ("--connect-to", !connectTo.isEmpty), ("--resolve", !resolve.isEmpty),
            ("--noproxy", noproxy != nil && namesProxy), ("--tls-max", highestTLS != nil), ("-4 or -6", family != nil),
        ]
        return options.first { $0.isWritten }?.name
    }

    /// The flags of which only one can be given, by their long names.
    public static let rivals: [Set<String>] = [
        Set(TLSChoice.allCases.map(\.longName)), Set(FamilyChoice.allCases.map(\.rawValue)),
    ]

    /// Checks what is written, and leaves files to who uses them.
    ///
    /// - Throws: ``InvalidOption`` for what contradicts itself or cannot be.
    public func check() throws(InvalidOption) {
        var configuration = CurlTransport.Configuration()
        do {
            try apply(to: &configuration)
        } catch let error as InvalidOption {
            throw error
        } catch {}
    }

    /// Sets where connections go, whom they trust and who they are.
    func applyTargets(to configuration: inout CurlTransport.Configuration) throws {
        // curl's -E may have a passphrase behind the file, which must not be repeated.
        if let cert, cert.utf8.contains(UInt8(ascii: ":")), (try? RequestInput.checkReadable(cert)) == nil {
            throw InvalidOption("-E: write the file alone; --key-pass-env takes a passphrase from the environment")
        }
        for file in [cert, key].compactMap({ $0 }) { try RequestInput.checkReadable(file) }
        if let cert {
            let passphrase = try passphraseVariable.map { name in
                CurlTransport.TLS.Passphrase(try Environment.text(name, for: "--key-pass-env"))
            }
            configuration.tls.clientCertificate = .files(chain: cert, key: key, passphrase: passphrase)
        } else if key != nil || passphraseVariable != nil {
            throw InvalidOption("--key and --key-pass-env belong to --cert")
        }
        if let pinnedpubkey { configuration.tls.pinnedPublicKeys = try Self.pins(pinnedpubkey) }
        if let lowestTLS, let highestTLS, highestTLS.version < lowestTLS.version {
            throw InvalidOption("--tls-max and --\(lowestTLS.longName) leave no version of TLS")
        }
        if let lowestTLS { configuration.tls.minimumVersion = lowestTLS.version }
        if let highestTLS { configuration.tls.maximumVersion = highestTLS.version }
        if let family { configuration.addressFamily = family.value }
        configuration.unixSocketPath = unixSocket
        for text in connectTo { configuration.connectionOverrides.append(try Self.connection(text)) }
        for text in resolve { configuration.connectionOverrides.append(try Self.address(text)) }
    }

    private static func pins(_ text: String) throws(InvalidOption) -> Set<CurlTransport.TLS.PublicKeyPin> {
        var pins: Set<CurlTransport.TLS.PublicKeyPin> = []
        for part in text.split(separator: ";", omittingEmptySubsequences: false) {
            guard part.hasPrefix("sha256//"), let pin = CurlTransport.TLS.PublicKeyPin(String(part)) else {
                throw InvalidOption("--pinnedpubkey: write sha256// and the digest of a public key in Base64")
            }
            pins.insert(pin)
        }
        return pins
    }

    private static func connection(_ text: String) throws(InvalidOption) -> CurlTransport.ConnectionOverride {
        let parts = split(text)
        guard parts.count == 4 else { throw InvalidOption("--connect-to: write HOST1:PORT1:HOST2:PORT2") }
        return CurlTransport.ConnectionOverride(
            from: joined(parts[0], parts[1]),
            to: joined(parts[2].isEmpty ? parts[0] : parts[2], parts[3])
        )
    }

    private static func address(_ text: String) throws(InvalidOption) -> CurlTransport.ConnectionOverride {
        let parts = split(text)
        guard parts.count >= 3, !parts[0].isEmpty, !parts[1].isEmpty, !parts[2].isEmpty else {
            throw InvalidOption("--resolve: write HOST:PORT:ADDRESS")
        }
        guard !text.contains(",") else { throw InvalidOption("--resolve: name one address") }
        // "+" has curl forget the address after a while, and "*" stands for any host.
        let host = parts[0].hasPrefix("+") ? String(parts[0].dropFirst()) : parts[0]
        // An IPv6 address may stand without its brackets, as in curl.
        let rest = parts[2...].joined(separator: ":")
        let target = rest.contains(":") && !rest.hasPrefix("[") ? "[\(rest)]" : rest
        return CurlTransport.ConnectionOverride(from: joined(host == "*" ? "" : host, parts[1]), to: target)
    }

    /// The parts between colons that stand in no brackets.
    private static func split(_ text: String) -> [String] {
        var parts = [""]
        var isWithin = false
        for character in text {
            if character == "[" { isWithin = true }
            if character == "]" { isWithin = false }
            if character == ":", !isWithin {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts
    }

    private static func joined(_ host: String, _ port: String) -> String {
        port.isEmpty ? host : "\(host):\(port)"
    }
}

/// The lowest version of TLS to accept.
enum TLSChoice: String, EnumerableFlag {
    case tls12
    case tls13

    /// Reads what `--tls-max` says.
    static func parse(_ text: String) throws(InvalidOption) -> TLSChoice {
        switch text {
        case "1.2": return .tls12
        case "1.3", "default": return .tls13
        default: throw InvalidOption("--tls-max: write 1.2 or 1.3; older versions are never accepted")
        }
    }

    var version: CurlTransport.TLS.Version {
        switch self {
        case .tls12: .tls12
        case .tls13: .tls13
        }
    }

    var longName: String {
        switch self {
        case .tls12: "tlsv1.2"
        case .tls13: "tlsv1.3"
        }
    }

    static func name(for value: TLSChoice) -> NameSpecification { .customLong(value.longName) }

    static func help(for value: TLSChoice) -> ArgumentHelp? {
        switch value {
        case .tls12: "Accept TLS 1.2 or later; this is the default."
        case .tls13: "Accept TLS 1.3 or later."
        }
    }
}

/// The kind of addresses to connect to.
enum FamilyChoice: String, EnumerableFlag {
    case ipv4
    case ipv6

    var value: CurlTransport.AddressFamily {
        switch self {
        case .ipv4: .ipv4
        case .ipv6: .ipv6
        }
    }

    static func name(for value: FamilyChoice) -> NameSpecification {
        switch value {
        case .ipv4: [.customShort("4"), .customLong("ipv4")]
        case .ipv6: [.customShort("6"), .customLong("ipv6")]
        }
    }

    static func help(for value: FamilyChoice) -> ArgumentHelp? {
        switch value {
        case .ipv4: "Connect to IPv4 addresses alone."
        case .ipv6: "Connect to IPv6 addresses alone."
        }
    }
}
