import HTTPRecovery
import HTTPTypes

/// A text with variables, as curl's `-w` takes it: `%{http_code} %{time_total}\n`.
public struct WriteOutFormat: Sendable, Hashable {
    /// Where a part of the text goes.
    public enum Destination: Sendable, Hashable {
        case output
        case errors
    }

    private enum Piece: Hashable {
        case text(String)
        case variable(WriteOutVariable)
        case header(HTTPField.Name)
        case unknown(String)
        case destination(Destination)
        /// What stands behind it is for a call that has failed.
        case onError
    }

    private let pieces: [Piece]

    /// The first variable that tells when a connection was made, which not every transport knows; nil if there is none.
    public var timeOfConnecting: String? {
        for case .variable(let variable) in pieces where variable.isTimeOfConnecting { return variable.rawValue }
        return nil
    }

    /// Reads a format; none is wrong, and what means nothing stands for itself.
    public init(_ format: String) {
        var reader = Reader(format)
        pieces = reader.read()
    }

    /// The parts of the text, in order.
    ///
    /// A variable that is not known is named on standard error, as curl does. What a server has a say in is made
    /// printable: it cannot steer the terminal.
    public func parts(_ values: WriteOutValues) -> [(destination: Destination, text: ScreenText)] {
        var parts: [(destination: Destination, text: String)] = []
        var destination = Destination.output
        func add(_ text: String, to place: Destination) {
            if text.isEmpty { return }
            if parts.last?.destination == place {
                parts[parts.count - 1].text += text
            } else {
                parts.append((place, text))
            }
        }
        for piece in pieces {
            switch piece {
            case .text(let text): add(text, to: destination)
            case .variable(let variable): add(variable.text(values), to: destination)
            case .header(let name):
                // Of several the first, as curl has it.
                let value = values.head?.headerFields.first { $0.name == name }?.value ?? ""
                add(Masking.printable(value, limit: 100_000), to: destination)
            case .unknown(let name):
                let shown = Masking.printable(name, limit: 100)
                add(
                    WriteOutVariable.ofCurlAlone.contains(name.lowercased())
                        ? "http-recover: the --write-out variable '\(shown)' is curl's and is not offered here\n"
                        : "http-recover: unknown --write-out variable: '\(shown)'\n",
                    to: .errors
                )
            case .destination(let new): destination = new
            case .onError:
                if values.exitCode == 0 { return parts.map { ($0.destination, ScreenText(trusted: $0.text)) } }
            }
        }
        return parts.map { ($0.destination, ScreenText(trusted: $0.text)) }
    }

    /// Takes a format apart, byte by byte, as curl does.
    private struct Reader {
        private var rest: Substring.UTF8View
        private var text: [UInt8] = []
        private var pieces: [Piece] = []

        init(_ format: String) {
            rest = Substring(format).utf8
        }

        mutating func read() -> [Piece] {
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "%"): readPercent()
                case UInt8(ascii: "\\"): readEscape()
                default: text.append(byte)
                }
            }
            end()
            return pieces
        }

        private mutating func readPercent() {
            guard let next = rest.first else { return text.append(UInt8(ascii: "%")) }
            if next == UInt8(ascii: "%") {
                rest.removeFirst()
                text.append(next)
            } else if let name = take("{", upTo: "}") {
                add(Self.piece(named: name))
            } else if let name = take("header{", upTo: "}") {
                if let name = HTTPField.Name(name) { add(.header(name)) }
            } else if take("output{", upTo: "}") != nil {
                add(.unknown("output{}"))
            } else {
                // What is none stands for itself, with the character behind it.
                text.append(UInt8(ascii: "%"))
                if let byte = rest.popFirst() { text.append(byte) }
            }
        }

        private static func piece(named name: String) -> Piece {
            // As in curl, capitals mean nothing here.
            switch name.lowercased() {
            case "stderr": .destination(.errors)
            case "stdout": .destination(.output)
            case "onerror": .onError
            case let known: WriteOutVariable(rawValue: known).map { .variable($0) } ?? .unknown(name)
            }
        }

        private mutating func readEscape() {
            switch rest.popFirst() {
            case nil: text.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "n"): text.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "r"): text.append(UInt8(ascii: "\r"))
            case UInt8(ascii: "t"): text.append(UInt8(ascii: "\t"))
            case let other?: text += [UInt8(ascii: "\\"), other]
            }
        }

        /// What stands between an opening and the end; nil if it does not open, or has no end.
        private mutating func take(_ opening: String, upTo end: Character) -> String? {
            guard rest.starts(with: opening.utf8) else { return nil }
            let inner = rest.dropFirst(opening.utf8.count)
            guard let last = inner.firstIndex(of: end.asciiValue ?? 0) else { return nil }
            let name = String(decoding: inner[..<last], as: UTF8.self)
            rest = rest[rest.index(after: last)...]
            return name
        }

        private mutating func add(_ piece: Piece) {
            end()
            pieces.append(piece)
        }

        private mutating func end() {
            if !text.isEmpty { pieces.append(.text(String(decoding: text, as: UTF8.self))) }
            text = []
        }
    }
}
