import ArgumentParser
import CommandLineSupport
import HTTPRecovery
import HTTPTypes

/// The header fields of a request; by curl's names.
struct FieldOptions: ParsableArguments {
    // Joined values (-XPOST) are accepted, and values that begin with a dash.
    @Option(
        name: [.customShort("H", allowingJoined: true), .customLong("header")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            A header field; can be given several times. 'Name:' leaves out what would be sent, 'Name;' sends it empty, and \
            @FILE takes the lines of a file.
            """,
            valueName: "'Name: value'"
        )
    )
    var headers: [String] = []

    @Option(
        name: [.customShort("A"), .customLong("user-agent")],
        parsing: .unconditional,
        help: ArgumentHelp("Who asks. Default: http-recover and its version.", valueName: "NAME")
    )
    var userAgent: String?

    @Option(
        name: [.customShort("e"), .customLong("referer")],
        parsing: .unconditional,
        help: ArgumentHelp("The page that leads here.", valueName: "URL")
    )
    var referer: String?

    @Option(
        name: [.customShort("b"), .customLong("cookie")],
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Cookies to send; those of answers are not kept.", valueName: "'name=value; …'")
    )
    var cookies: [String] = []

    @Option(
        name: [.customShort("r"), .customLong("range")],
        parsing: .unconditional,
        help: ArgumentHelp("The bytes to ask for, such as 0-499 or -500.", valueName: "RANGE")
    )
    var range: String?

    @Option(
        name: [.customShort("u"), .customLong("user")],
        parsing: .unconditional,
        help: ArgumentHelp("User and password, sent as Basic.", valueName: "USER:PASSWORD")
    )
    var user: String?

    @Option(
        name: .customLong("oauth2-bearer"),
        parsing: .unconditional,
        help: ArgumentHelp("A token to send as Bearer; --token-file keeps it out of sight.", valueName: "TOKEN")
    )
    var bearer: String?

    /// The fields, with those of the content and the defaults unless the person says otherwise, and what is left out.
    func fields(content: RequestContent) throws -> (fields: HTTPFields, leftOut: Set<HTTPField.Name>) {
        let (sent, isLeftOut) = try HeaderLine.fields(headers, bodyLength: content.body?.length ?? 0)
        var written = sent
        func add(_ name: HTTPField.Name, _ value: String?, _ option: String) throws(InvalidOption) {
            guard let value, !value.isEmpty, !written.contains(name), !isLeftOut.contains(name) else { return }
            guard value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) }) else {
                throw InvalidOption("\(option): the value holds a control character")
            }
            written[name] = value
        }
        // Whatever a form is called, it cannot be read without that.
        if let type = written[.contentType], let form = content.contentType, form.hasPrefix("multipart/"),
            !type.contains("boundary="), let boundary = form.split(separator: ";").dropFirst().first
        {
            written[.contentType] = "\(type);\(boundary)"
        }
        try add(.contentType, content.contentType, "the content type")
        // Without these some servers refuse a request.
        try add(.accept, content.accept ?? "*/*", "--json")
        try add(.userAgent, userAgent ?? "http-recover/\(HelpText.version)", "-A")
        if referer?.hasSuffix(";auto") == true {
            throw InvalidOption("-e: ;auto is curl's and is not kept here: a redirect is followed without a Referer")
        }
        try add(.referer, referer, "-e")
        guard cookies.allSatisfy({ $0.utf8.contains(UInt8(ascii: "=")) }) else {
            throw InvalidOption("-b takes cookies as name=value; files of cookies are curl's and are not kept here")
        }
        try add(.cookie, cookies.joined(separator: ";"), "-b")
        if let range {
            let isRange = range.utf8.allSatisfy { (0x30...0x39).contains($0) || "-,".utf8.contains($0) }
            guard isRange, range.utf8.contains(UInt8(ascii: "-")) else {
                throw InvalidOption("-r: write a range of bytes, such as 0-499, 500- or -500")
            }
            try add(.range, "bytes=\(range)", "-r")
        }
        if user != nil, bearer != nil { throw InvalidOption("-u and --oauth2-bearer contradict each other") }
        if let user {
            // Whether a person could be asked depends on the terminal; a script must not hang.
            guard user.utf8.contains(UInt8(ascii: ":")) else {
                throw InvalidOption("-u: write USER:PASSWORD; the password is not asked for (USER: is none)")
            }
            try add(.authorization, "Basic \(Base64.encode(Array(user.utf8)))", "-u")
        }
        try add(.authorization, bearer.map { "Bearer \($0)" }, "--oauth2-bearer")
        return (written, isLeftOut)
    }
}
