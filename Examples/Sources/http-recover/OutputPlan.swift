import CommandLineSupport
import HTTPRecovery

/// Where answers go and what of them is written, checked.
struct OutputPlan: Sendable {
    /// Where the bodies of one round go, URL by URL.
    let places: [BodyPlace]
    /// What is written of an answer.
    let parts: CallOutput.Parts
    /// The file of the heads; nil for none.
    let headFile: String?
    /// Whether heads go to standard output, and bodies elsewhere.
    let showsHeadsAlone: Bool
    /// Whether a download goes on with what there is of it.
    let resumes: Bool
    /// The most bytes of a body.
    let maxBody: Int?
    /// Whether all is written as soon as it comes, to a file under its own name too.
    let writesAtOnce: Bool
    private let makesDirectories: Bool

    /// Checks the options.
    ///
    /// - Parameters:
    ///   - command: The options.
    ///   - words: The same in their order.
    init(_ command: HTTPRecoverCommand, _ words: CommandWords) throws(InvalidOption) {
        let options = command.outputs
        let total = command.urls.count * command.calls.repeat
        places = try options.targets(for: command.urls, isSingle: total == 1, words)
        let hasFiles = places.contains { if case .file = $0 { true } else { false } }
        if hasFiles, command.calls.repeat > 1 {
            throw InvalidOption("-o and -O take the body of a single request, not of several (--repeat)")
        }
        if options.dumpHeader == "" { throw InvalidOption("-D: the name of the file is empty") }
        let dumpsToOutput = options.dumpHeader == "-"
        headFile = dumpsToOutput ? nil : options.dumpHeader
        let isOutput = places.contains(.standardOutput)
        // A head that goes where the body goes stands before it.
        showsHeadsAlone = dumpsToOutput && !isOutput
        let showsHead = options.include || options.head || (dumpsToOutput && isOutput)
        if dumpsToOutput, isOutput, places.contains(where: { $0 != .standardOutput }) {
            throw InvalidOption("-D - and -o need a file for each URL, or for none")
        }
        if total > 1, isOutput, command.calls.concurrency > 1 {
            throw InvalidOption("-o - takes one body after the other; with --concurrency they would mix")
        }
        resumes = options.continueAt != nil
        writesAtOnce = options.noBuffer
        parts = CallOutput.Parts(
            showsHead: showsHead,
            isHeadOnly: options.head,
            skipsErrors: options.fail,
            writesAtOnce: writesAtOnce,
            resumes: resumes
        )
        maxBody = options.bodyLimit
        makesDirectories = options.createDirs
        if let offset = options.continueAt {
            guard offset == "-" else { throw InvalidOption("-C: write -C -, which goes on where the file ends") }
            if showsHead { throw InvalidOption("-C and -i contradict each other: a head has no place within a file") }
            if total > 1 { throw InvalidOption("-C goes on with a single GET request without a Range of its own") }
        }
    }

    /// Opens the file of a body; nil if it goes to none.
    ///
    /// - Returns: The file, and how many bytes an earlier download has left.
    func open(_ place: BodyPlace) throws(FileError) -> (file: any FileSink, kept: Int64)? {
        guard case .file(let path) = place else { return nil }
        if makesDirectories { try Directories.make(above: path) }
        if resumes || writesAtOnce {
            let file = try ResumableFile(path)
            return (file, resumes ? file.length : 0)
        }
        return (try AtomicFile(path), 0)
    }

    /// Opens the file of the heads; nil if they go to none.
    func openHeads() throws(FileError) -> AtomicFile? {
        guard let headFile else { return nil }
        if makesDirectories { try Directories.make(above: headFile) }
        return try AtomicFile(headFile)
    }
}
