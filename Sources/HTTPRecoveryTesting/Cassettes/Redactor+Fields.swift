import HTTPRecovery
import HTTPTypes

extension Redactor {
    mutating func fields(_ fields: HTTPFields) -> [JSONValue.Member] {
        var lines: [String: [JSONValue]] = [:]
        for field in fields {
            let name = field.name.canonicalName
            // It would not be that of the body which is kept.
            if name == "content-length" { continue }
            let text: String
            switch name {
            case "location", "content-location": text = target(field.value)
            case "set-cookie": text = cookie(field.value)
            case "www-authenticate": text = challenge(field.value)
            case _ where names.hold(name): text = kept(field.value, isFree: true)
            case _ where KeptNames.isOfLimit(name): text = limit(field.value)
            case _ where KeptNames.isPlainField(name): text = kept(field.value, isFree: name == "server")
            default: text = substitute(for: field.value, of: name)
            }
            lines[name, default: []].append(.string(text))
        }
        guard !lines.isEmpty else { return [] }
        let members = lines.map { JSONValue.Member($0, $1.count == 1 ? $1[0] : .array($1)) }
        return [.init("headers", .object(members))]
    }

    /// What is left of limits, without the key of the partition (`pk`), which tells whose they are.
    private mutating func limit(_ text: String) -> String {
        var (shown, rest) = ("", Substring(kept(text)))
        while !rest.isEmpty {
            // Up to what parts members or parameters, and is not quoted.
            var (isQuoted, isEscaped) = (false, false)
            let end = rest.utf8.firstIndex { byte in
                if isEscaped {
                    isEscaped = false
                } else if isQuoted, byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isQuoted.toggle()
                }
                return !isQuoted && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";"))
            }
            let part = rest[..<(end ?? rest.endIndex)]
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let isKey = pair.count == 2 && pair[0].trimmingPrefix(while: { $0 == " " }).lowercased() == "pk"
            shown += isKey ? "\(pair[0])=\(substitute(for: String(pair[1]), of: "pk"))" : String(part)
            if let end { shown += rest[end...].prefix(1) }
            rest = rest[part.endIndex...].dropFirst()
        }
        return shown
    }

    /// Challenges, without the token of those that have one, and of parameters with the values of those alone that say what
    /// is wrong and what is wanted.
    private mutating func challenge(_ text: String) -> String {
        var (shown, rest, isBegun) = ("", text[...], false)
        while let mark = rest.firstIndex(of: "=") {
            let isQuoted = rest[mark...].dropFirst().first == "\""
            let start = rest.index(mark, offsetBy: isQuoted ? 2 : 1)
            let end = rest[start...].firstIndex { isQuoted ? $0 == "\"" : " ,\t".contains($0) } ?? rest.endIndex
            let value = String(rest[start..<end])
            if !isQuoted, value.allSatisfy({ $0 == "=" }) {
                // They fill up a token.
                shown += schemes(in: rest[..<mark], isBegun)
            } else {
                let name = String(rest[..<mark].split { " ,\t".contains($0) }.last ?? "")
                shown += schemes(in: rest[..<mark].dropLast(name.count), isBegun)
                shown += (KeptNames.isWord(name) ? name : StandIn.mark) + rest[mark..<start]
                shown += parameter(value, of: name)
                if isQuoted, end < rest.endIndex { shown += "\"" }
            }
            rest = isQuoted ? rest[end...].dropFirst() : rest[end...]
            isBegun = true
        }
        return shown + schemes(in: rest, isBegun)
    }

    private mutating func parameter(_ value: String, of name: String) -> String {
        guard KeptNames.isOfChallenge(name) else { return substitute(for: value, of: name) }
        return kept(value, isFree: ["error_description", "realm"].contains(name.inLowercase))
    }

    /// What stands between the parameters of challenges: the first word behind a comma is a scheme, and another a token.
    private mutating func schemes(in text: Substring, _ isBegun: Bool) -> String {
        let challenges = text.split(separator: ",", omittingEmptySubsequences: false).enumerated().map { index, part in
            var isScheme = index > 0 || !isBegun
            return part.split(omittingEmptySubsequences: false) { $0 == " " || $0 == "\t" }.map { word in
                defer { isScheme = isScheme && word.isEmpty }
                if word.isEmpty || isScheme && KeptNames.isWord(word) { return String(word) }
                return substitute(for: String(word), of: "token")
            }
            .joined(separator: " ")
        }
        return challenges.joined(separator: ",")
    }

    /// A cookie by name and attributes.
    private mutating func cookie(_ text: String) -> String {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        let pair = (parts.first ?? "").split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, KeptNames.isWord(pair[0]) else { return StandIn.mark }
        var shown = "\(pair[0])=\(substitute(for: String(pair[1]), of: "cookie"))"
        for part in parts.dropFirst() {
            if let attribute = attribute(part) { shown += ";\(attribute)" }
        }
        return shown
    }

    /// What follows a cookie, if it is an attribute with a value that such a one has.
    private mutating func attribute(_ text: Substring) -> String? {
        let pair = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(decoding: (pair.first ?? "").utf8.trimming(\.isOWS), as: UTF8.self).inLowercase
        let value = pair.count == 2 ? pair[1] : ""
        switch name {
        case "httponly", "partitioned", "secure": return value.isEmpty ? String(text) : nil
        case "path": return "\(pair[0])=\(target(String(value)))"
        case "domain", "priority", "samesite": return value.utf8.contains(where: \.isOWS) ? nil : String(text)
        case "max-age": return value.utf8.drop { $0 == UInt8(ascii: "-") }.allSatisfy(\.isDigit) ? String(text) : nil
        case "expires":
            // An older form has hyphens in it.
            let date = Timestamp(
                httpDate: String(value.map { $0 == "-" ? " " : $0 }),
                now: Timestamp(sinceEpoch: .zero)
            )
            return date == nil ? nil : String(text)
        default: return nil
        }
    }
}
