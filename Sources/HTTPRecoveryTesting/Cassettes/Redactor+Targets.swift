import HTTPRecovery

extension Redactor {
    /// A URL or its path and query, without userinfo and fragment.
    mutating func target(_ text: String) -> String {
        let whole = text.prefix { $0 != "#" }
        let parts = whole.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path = parts.first ?? ""
        var start = ""
        if let scheme = path.utf8.range(of: "://".utf8) {
            let end = path[scheme.upperBound...].firstIndex(of: "/") ?? path.endIndex
            let authority = String(path[scheme.upperBound..<end])
            start = "\(Origin(scheme: String(path[..<scheme.lowerBound]), authority: authority))"
            path = path[end...]
        }
        return start + segments(of: path) + (parts.count == 2 ? "?\(items(String(parts[1])))" : "")
    }

    /// The segments of a path: a word is a route's unless it stands where a value does, behind an identifier or the name of
    /// something that has some.
    private mutating func segments(of path: Substring) -> String {
        var (before, isBehindIdentifier) = ("", false)
        var shown: [String] = []
        for segment in path.split(separator: "/", omittingEmptySubsequences: false).map(String.init) {
            let stand = standIn(for: segment, behind: before, isBehindIdentifier)
            isBehindIdentifier = isBehindIdentifier || stand != nil
            shown.append(stand ?? segment)
            before = segment
        }
        return shown.joined(separator: "/")
    }

    /// What stands for a segment; nil for one that is kept.
    private mutating func standIn(for segment: String, behind before: String, _ isBehindIdentifier: Bool) -> String? {
        if let known = known(segment) { return known }
        if StandIn.isName(segment) { return segment }
        if segment.isEmpty || names.hold(before) || names.hold(segment: segment) { return nil }
        let isPlaceOfValue = isBehindIdentifier || RouteWords.announceValue(before)
        if KeptNames.isRoute(segment), !isPlaceOfValue || RouteWords.hold(segment), !isSecret(segment) { return nil }
        return substitute(forSegment: segment, behind: before)
    }

    /// The items of a query or a form.
    mutating func items(_ text: String) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let name = pair.first.map(Self.decoded), pair.count == 2 else {
                return names.hold(Self.decoded(String(item))) ? String(item) : substitute(for: String(item), of: "")
            }
            if pair[1].utf8.allSatisfy({ $0 == UInt8(ascii: "=") }), !name.isEmpty {
                return names.hold(name) || KeptNames.isNameAlone(name)
                    ? String(item) : substitute(for: String(item), of: "")
            }
            // Brackets hold a part of the name: "filter[status]".
            let isName = KeptNames.isWord(name.filter { $0 != "[" && $0 != "]" })
            let key = isName || names.hold(name) ? pair[0] : StandIn.mark
            let plain = Self.decoded(pair[1])
            let shown = value(plain, of: name)
            return "\(key)=\(shown == plain ? pair[1] : shown)"
        }
        .joined(separator: "&")
    }

    private static func decoded(_ text: String) -> String {
        let spaced = text.utf8.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
        return String(decoding: PercentEncoding.decode(spaced).bytes, as: UTF8.self)
    }
}
