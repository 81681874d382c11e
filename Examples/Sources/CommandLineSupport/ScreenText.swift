public import HTTPRecovery

/// Text that may stand on a person's screen: whatever is told takes this type, and no `String`.
///
/// What is written in the source stands as it is. What is put into it (from a server, a file, an answer, an error) is
/// made printable on the way: it can neither steer the terminal nor hide or reorder what stands around it.
///
/// ```swift
/// terminal.write("The server calls it \(code, limit: 100).")
/// ```
public struct ScreenText: Sendable, Hashable, CustomStringConvertible {
    /// The text; it may have several lines.
    public let description: String

    /// Text that holds nothing from outside, or has been made printable.
    init(trusted text: String) {
        self.description = text
    }

    /// Makes any text printable, on one line.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - limit: The most characters of it; the rest is left out.
    public init(_ text: some StringProtocol, limit: Int = 2000) {
        self.init(trusted: Masking.printable(text, limit: limit))
    }

    /// Makes each line of a text of several printable.
    public init(lines text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        self.init(trusted: lines.map { Masking.printable($0, limit: 2000) }.joined(separator: "\n"))
    }

    /// Writes a value as JSON on one line; whatever is not printable is escaped, and so nothing is lost.
    public init(json value: JSONValue) {
        var text = String.UnicodeScalarView()
        for scalar in value.description.unicodeScalars {
            if Masking.isPrintable(scalar) {
                text.append(scalar)
            } else {
                // Outside of texts JSON has none of these.
                for unit in UTF16.encode(scalar) ?? .init() {
                    let hex = String(unit, radix: 16)
                    text.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - hex.count))\(hex)".unicodeScalars)
                }
            }
        }
        self.init(trusted: String(text))
    }

    /// Whether there is nothing in it.
    public var isEmpty: Bool { description.isEmpty }

    /// Both texts, one behind the other.
    public static func + (left: ScreenText, right: ScreenText) -> ScreenText {
        ScreenText(trusted: left.description + right.description)
    }
}

extension ScreenText: ExpressibleByStringInterpolation {
    /// Creates a text from the source.
    public init(stringLiteral value: String) {
        self.init(trusted: value)
    }

    /// Creates a text from the source with values in it.
    public init(stringInterpolation: StringInterpolation) {
        self.init(trusted: stringInterpolation.text)
    }

    /// Puts the parts of a text together.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        /// Begins with nothing.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity)
        }

        /// Takes what stands in the source.
        public mutating func appendLiteral(_ literal: String) {
            text += literal
        }

        /// Takes what is printable already.
        public mutating func appendInterpolation(_ value: ScreenText) {
            text += value.description
        }

        /// Makes a value printable; of a longer one the beginning.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible, limit: Int = 2000) {
            text += Masking.printable(value.description, limit: limit)
        }

        /// Makes an error's text printable.
        public mutating func appendInterpolation(_ value: any Error, limit: Int = 2000) {
            text += Masking.printable("\(value)", limit: limit)
        }
    }
}
