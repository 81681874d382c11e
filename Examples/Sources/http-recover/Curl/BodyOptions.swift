import ArgumentParser

/// What a request carries; by curl's names.
///
/// The order of the options counts (``CommandWords``).
struct BodyOptions: ParsableArguments {
    @Option(
        name: [.customShort("d", allowingJoined: true), .customLong("data"), .customLong("data-ascii")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            The body, or the file that holds it (@- is standard input), sent as it is. The content type is that of a \
            form unless a header says otherwise. Several of these options are joined with &. Standard input is read to \
            its end before anything is sent, at most 256 MiB.
            """,
            valueName: "DATA|@FILE"
        )
    )
    var data: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("The same, but an @ in front is a part of it.", valueName: "DATA")
    )
    var dataRaw: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("The same as --data.", valueName: "DATA|@FILE")
    )
    var dataBinary: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The same with the text percent-encoded: TEXT, =TEXT, NAME=TEXT, @FILE or NAME@FILE.",
            valueName: "TEXT"
        )
    )
    var dataUrlencode: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A body of JSON, with its Content-Type and Accept; several are put together without anything between.",
            valueName: "DATA|@FILE"
        )
    )
    var json: [String] = []

    @Flag(name: [.customShort("G"), .customLong("get")], help: "Puts that into the URL's query, and sends no body.")
    var get = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Adds to the URL's query, in the forms of --data-urlencode; with a + in front as it stands.",
            valueName: "TEXT"
        )
    )
    var urlQuery: [String] = []

    @Option(
        name: [.customShort("F"), .customLong("form")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            A part of a multipart form: NAME=TEXT, NAME=@FILE for a file, NAME=<FILE for what it holds; behind that \
            ;type=TYPE and ;filename=NAME.
            """,
            valueName: "PART"
        )
    )
    var form: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A part whose text stands as it is, whatever is in it.", valueName: "NAME=TEXT")
    )
    var formString: [String] = []

    @Option(
        name: [.customShort("T"), .customLong("upload-file")],
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            PUTs a file; - is standard input, which is read to its end first, at most 256 MiB. A URL whose path ends \
            with /, or is empty, gets the file's name.
            """,
            valueName: "FILE"
        ),
        completion: .file()
    )
    var uploadFile: String?

    /// The options that a body of data is put together from.
    static let dataNames: Set = ["--data", "--data-raw", "--data-binary", "--data-urlencode", "--json"]

    /// The options that a form is put together from.
    static let formNames: Set = ["--form", "--form-string"]
}
