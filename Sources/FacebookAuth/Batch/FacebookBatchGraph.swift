import AuthRecovery

/// Which requests of a batch need which others: by `depends_on`, or because a text of theirs comes from another's answer
/// (`{result=name:$.id}`).
struct FacebookBatchGraph {
    private let parents: [Set<Int>]
    private let children: [Set<Int>]

    init(_ requests: [FacebookBatchRequest]) {
        var indices: [String: Int] = [:]
        for (index, request) in requests.enumerated() {
            guard let name = request.name, indices[name] == nil else { continue }
            indices[name] = index
        }
        var parents = requests.map { _ in Set<Int>() }
        var children = parents
        for (index, request) in requests.enumerated() {
            for name in request.neededNames {
                guard let parent = indices[name], parent != index else { continue }
                parents[index].insert(parent)
                children[parent].insert(index)
            }
        }
        self.parents = parents
        self.children = children
    }

    /// Those whose answers a request needs itself.
    func parents(of index: Int) -> Set<Int> { parents[index] }

    /// All without which a request cannot be sent.
    func ancestors(of index: Int) -> Set<Int> { Self.reached(from: index, by: parents) }

    /// All that cannot be sent without a request.
    func descendants(of index: Int) -> Set<Int> { Self.reached(from: index, by: children) }

    private static func reached(from start: Int, by edges: [Set<Int>]) -> Set<Int> {
        var found: Set<Int> = []
        var open = edges[start]
        while let index = open.popFirst() {
            guard index != start, found.insert(index).inserted else { continue }
            open.formUnion(edges[index])
        }
        return found
    }

    /// Whether each part holds what its requests need; what no part holds is the server's to judge, unless a request
    /// depends on it.
    static func isClosed(_ parts: [ArraySlice<FacebookBatchRequest>]) -> Bool {
        let all = Set(parts.joined().compactMap(\.name))
        return parts.allSatisfy { part in
            let names = Set(part.compactMap(\.name))
            return part.allSatisfy { request in
                (request.dependsOn.map { names.contains($0) } ?? true)
                    && request.neededNames.intersection(all).isSubset(of: names)
            }
        }
    }
}

extension FacebookBatchRequest {
    /// The names of the requests that this one needs.
    fileprivate var neededNames: Set<String> {
        var names = Set([dependsOn].compactMap(\.self))
        var texts = [path] + Self.texts(of: FormFields(parsing: path.utf8))
        if let form { texts += Self.texts(of: form) }
        for text in texts { Self.addReferences(in: text, to: &names) }
        return names
    }

    private static func texts(of fields: FormFields) -> [String] {
        Set(fields.names).flatMap { name in fields[name].map { "\(name)=\($0.reveal())" } }
    }

    private static func addReferences(in text: String, to names: inout Set<String>) {
        let opening = "{result="
        var rest = text[...]
        while let start = rest.firstIndex(of: "{") {
            rest = rest[start...]
            if rest.hasPrefix(opening) {
                let name = rest.dropFirst(opening.count).prefix { $0 != ":" && $0 != "}" }
                if !name.isEmpty { names.insert(String(name)) }
            }
            rest = rest.dropFirst()
        }
    }
}
