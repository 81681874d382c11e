import AuthRecovery
import HTTPRecovery

/// What a step shows once and never again: the server forgets it, or it holds a secret of the device that is set up.
struct ShownOnce {
    /// What is shown.
    enum Content {
        /// The recovery codes of a device.
        case recoveryCodes([String], device: String?)
        /// The address by which an authenticator app is set up, as its QR code has it.
        case registration(uri: String)
    }

    let content: Content

    /// What a step shows; nil if it shows nothing of the sort.
    init?(_ step: JourneyStep) {
        let codes = step.first { callback in
            if case .textOutput(let text?, .script) = callback.content { Self.recoveryCodes(in: text) } else { nil }
        }
        if let codes {
            content = codes
        } else if let uri = step.hidden(Self.registrationID) ?? step.first(\.registrationInScript), Self.isSetup(uri) {
            content = .registration(uri: uri)
        } else {
            return nil
        }
    }

    private static let registrationID = "mfaDeviceRegistration"
    /// More than any server makes.
    private static let maximumCodes = 64

    /// The schemes of the addresses that set up authenticator apps, in lower case.
    fileprivate static let schemes = ["otpauth://", "pushauth://", "mfauth://"]

    private static func isSetup(_ uri: String) -> Bool {
        let start = uri.prefix(16).lowercased()
        return uri.utf8.count <= 16_384 && schemes.contains(where: start.hasPrefix)
    }

    /// The way to prove oneself that is shown.
    var key: Factor.Key {
        switch content {
        case .recoveryCodes: .backupCode
        case .registration(let uri): uri.lowercased().hasPrefix("otpauth") ? .totp : .push
        }
    }

    /// The name that the server has for it.
    var name: String {
        switch content {
        case .recoveryCodes: "RecoveryCodeDisplayNode"
        case .registration: Self.registrationID
        }
    }

    /// What the person has to keep or to scan.
    var setup: Secret {
        switch content {
        case .recoveryCodes(let codes, _): Secret(codes.joined(separator: "\n"))
        case .registration(let uri): Secret(uri)
        }
    }

    /// What is said about it if the server says nothing.
    var prompt: String {
        switch content {
        case .recoveryCodes(_, let device):
            "Recovery codes\(device.map { " of \($0)" } ?? ""): keep them, they are not shown again. Each can be used once."
        case .registration: "Set up the authenticator app with this address, or its QR code."
        }
    }

    // MARK: Recovery codes

    /// The codes in the script that shows them to people with a browser: the words that stand alone in a line of it.
    ///
    /// The script is read, never run.
    private static func recoveryCodes(in script: String) -> Content? {
        let text = Array(script.bounded(to: 65_536).utf8)
        guard String(decoding: text, as: UTF8.self).lowercased().holds("recovery codes") else { return nil }
        var codes: [String] = []
        var index = text.startIndex
        while index < text.endIndex, codes.count < maximumCodes {
            guard isQuote(text[index]) else {
                index += 1
                continue
            }
            let word = text[(index + 1)...].prefix {
                $0.isAlphanumeric || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            }
            let rest = text[word.endIndex...]
            if (4...64).contains(word.count), rest.starts(with: "\\n".utf8), rest.dropFirst(2).first == text[index] {
                codes.append(String(decoding: word, as: UTF8.self))
            }
            index = max(word.endIndex, index + 1)
        }
        return codes.isEmpty ? nil : .recoveryCodes(codes, device: device(in: text[...]))
    }

    /// The name of the device, which is emphasized.
    private static func device(in text: ArraySlice<UInt8>) -> String? {
        guard let start = text.range(of: "<em>".utf8) else { return nil }
        let rest = text[start.upperBound...]
        guard let end = rest.range(of: "</em>".utf8) else { return nil }
        let name = String(decoding: rest[..<end.lowerBound], as: UTF8.self).trimming(\.isWhitespace)
        return String(name).nonEmpty?.bounded(to: 256)
    }

    fileprivate static func isQuote(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
    }
}

extension JourneyStep {
    /// The value of the hidden callback of that id.
    func hidden(_ id: String) -> String? {
        first { callback in
            if case .hidden(id, let value?) = callback.content { value.nonEmpty } else { nil }
        }
    }

    /// The number to choose on the phone, for a push that asks for one.
    var pushNumber: String? { hidden("pushChallengeNumber")?.bounded(to: 64) }
}

extension JourneyCallback {
    /// The address that sets an authenticator app up, in the script that draws its QR code.
    fileprivate var registrationInScript: String? {
        guard case .textOutput(let text?, .script) = content else { return nil }
        let script = Array(text.bounded(to: 65_536).utf8)[...]
        for scheme in ShownOnce.schemes {
            guard let start = script.range(of: scheme.utf8) else { continue }
            let uri = script[start.lowerBound...].prefix {
                !ShownOnce.isQuote($0) && $0 > 0x20 && $0 != UInt8(ascii: "\\")
            }
            return String(decoding: uri, as: UTF8.self)
        }
        return nil
    }
}
