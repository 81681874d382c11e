import Testing

/// The folders of a module build on each other in one direction: none uses a type of a folder that stands after it.
@Suite struct FoldersHaveAnOrder {
    private static let core = [
        "Support", "Time", "URLs", "JSON", "ServerDelay", "Outcomes", "Messages", "Transport", "State",
        "Events", "Pipeline", "Admissions", "Policies", "Layers", "Engine", "Resilience", "Operations", "Client",
    ]
    private static let auth = [
        "Secrets", "Clocks", "Lockouts", "Credentials", "Requests", "Sealing", "Tokens", "OAuth", "Renewal",
        "ProofOfPossession", "WebAuthn", "Authorization", "SignIn", "Provider",
    ]

    private struct File {
        let path: String
        let folder: String
        /// The types that are declared at the top.
        var types: Set<Substring> = []
        /// All that are declared.
        var declared: Set<Substring> = []
        /// The words that can be names of types.
        var words: Set<Substring> = []

        init(_ path: String, _ text: String) {
            self.path = path
            folder = String(path.split(separator: "/")[1])
            for line in text.split(separator: "\n") {
                let words = Self.words(of: line)
                self.words.formUnion(
                    words.filter { $0.utf8.first.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 } ?? false }
                )
                guard let keyword = words.firstIndex(where: { Self.keywords.contains($0) }), keyword + 1 < words.count
                else { continue }
                declared.insert(words[keyword + 1])
                if !line.hasPrefix(" ") { types.insert(words[keyword + 1]) }
            }
        }

        private static let keywords: Set<Substring> = ["struct", "enum", "class", "protocol", "actor", "typealias"]

        /// The words of a line, without those in quotation marks.
        private static func words(of line: Substring) -> [Substring] {
            line.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset.isMultiple(of: 2) }
                .flatMap { $0.element.split { !($0.isLetter || $0.isNumber || $0 == "_") } }
        }
    }

    @Test(arguments: [("HTTPRecovery", core, 100), ("AuthRecovery", auth, 80)])
    func noFolderUsesOneThatStandsAfterIt(module: String, order: [String], types: Int) throws {
        let files = try LibrarySources.all().filter { $0.path.hasPrefix(module + "/") }.map { File($0.path, $0.text) }
        #expect(Set(files.map(\.folder)) == Set(order))
        let places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($0.element, $0.offset) })
        var home: [Substring: String] = [:]
        for file in files {
            for type in file.types { home[type] = file.folder }
        }
        #expect(home.count > types, "the types are found")
        for file in files {
            let own = try #require(places[file.folder])
            for word in file.words.subtracting(file.declared) {
                guard let folder = home[word], let place = places[folder] else { continue }
                #expect(place <= own, "\(file.path) uses \(word) of \(folder)")
            }
        }
    }
}
