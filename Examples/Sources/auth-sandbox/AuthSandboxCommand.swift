import ArgumentParser
import AuthSandbox
import Glibc
import ProgramVersion

@main
struct AuthSandboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth-sandbox",
        abstract: "A local server that behaves like authentication providers.",
        discussion: HelpText.discussion,
        version: ProgramVersion.current
    )

    @Option(help: ArgumentHelp("Where to listen; port 0 takes a free one.", valueName: "HOST:PORT"))
    var listen = "127.0.0.1:0"

    @Option(
        help: ArgumentHelp(
            """
            Which providers to serve: all or \(SandboxProvider.all.map(\.name).joined(separator: ", ")); none with \
            --upstream. (default: all)
            """,
            valueName: "provider"
        ),
        completion: .list(Provider.allValueStrings)
    )
    var provider: Provider?

    @Option(help: ArgumentHelp("Forward requests to this server instead of serving providers.", valueName: "URL"))
    var upstream: String?

    @Option(help: ArgumentHelp("What forwarded requests say in Host. (default: that of the URL)", valueName: "HOST"))
    var upstreamHost: String?

    @Option(help: ArgumentHelp("How long a whole answer of it may take. (default: 30)", valueName: "SECONDS"))
    var upstreamTimeout: Double?

    @Option(help: ArgumentHelp("A scenario file.", valueName: "FILE"), completion: .file())
    var scenario: String?

    @Option(help: ArgumentHelp("Repeats the ids and codes of the run with the same seed.", valueName: "N"))
    var seed: UInt64?

    struct Provider: ExpressibleByArgument {
        static let all = "all"
        static let none = "none"
        static var allValueStrings: [String] { [all, none] + SandboxProvider.all.map(\.name) }

        let word: String

        init?(argument: String) {
            guard Self.allValueStrings.contains(argument) else { return nil }
            word = argument
        }

        var served: [SandboxProvider] { SandboxProvider.all.filter { word == Self.all || word == $0.name } }
    }

    func run() throws {
        let scenario = try loadScenario()
        // Blocked before any thread exists, so that no thread but this one takes them.
        var signals = sigset_t()
        _ = unsafe sigemptyset(&signals)
        _ = unsafe sigaddset(&signals, SIGINT)
        _ = unsafe sigaddset(&signals, SIGTERM)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        _ = signal(SIGPIPE, SIG_IGN)

        let sandbox: AuthSandbox
        do {
            sandbox = try AuthSandbox(
                listen: listen,
                scenario: scenario,
                seed: seed ?? UInt64.random(in: 0...UInt64.max),
                providers: upstream == nil ? provider?.served ?? SandboxProvider.all : [],
                upstream: try upstreamServer(),
                log: Output.line
            )
        } catch {
            Output.complain(error.message)
            throw ExitCode(error.code == .invalidInput ? 64 : 69)
        }
        Output.line("listening on \(sandbox.url)")
        if let page = sandbox.pageURL { Output.line("in a browser: \(page)") }
        var signal: Int32 = 0
        _ = unsafe sigwait(&signals, &signal)
        sandbox.stop()
        if signal == SIGINT { throw ExitCode(130) }
    }

    func validate() throws {
        if !AuthSandbox.isAddress(listen) {
            throw ValidationError("--listen takes HOST:PORT with an IP address, such as 127.0.0.1:8080.")
        }
        if upstream == nil {
            if provider?.word == Provider.none {
                throw ValidationError("--provider none serves nothing without --upstream.")
            }
            if upstreamHost != nil || upstreamTimeout != nil {
                throw ValidationError("--upstream-host and --upstream-timeout need --upstream.")
            }
        } else if let provider, provider.word != Provider.none {
            throw ValidationError("--upstream forwards everything: --provider \(provider.word) has no place.")
        }
        if let upstreamTimeout, !(upstreamTimeout >= 0.001 && upstreamTimeout <= 86_400) {
            throw ValidationError("--upstream-timeout takes seconds from 0.001 to 86400.")
        }
        do {
            _ = try upstreamServer()
        } catch {
            throw ValidationError("--upstream \(error.message).")
        }
    }

    private func upstreamServer() throws(SandboxError) -> SandboxUpstream? {
        guard let upstream else { return nil }
        let timeout = Duration.milliseconds(Int64((upstreamTimeout ?? 30) * 1000))
        return try SandboxUpstream(upstream, host: upstreamHost, timeout: timeout)
    }

    private func loadScenario() throws -> SandboxScenario {
        guard let scenario else { return .standard }
        guard let text = Output.contents(of: scenario) else {
            // The call that failed was the last one.
            Output.complain("\(scenario): cannot be read: \(unsafe String(cString: strerror(errno)))")
            throw ExitCode(65)
        }
        do {
            return try SandboxScenario(json: text)
        } catch {
            Output.complain("\(scenario): \(error.message)")
            throw ExitCode(65)
        }
    }
}

/// Reading and writing by the system's own calls: each line is out before the next thing happens.
enum Output {
    static func line(_ text: String) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    static func complain(_ text: String) {
        write("auth-sandbox: \(text)\n", to: STDERR_FILENO)
    }

    static func contents(of path: String) -> String? {
        let file = unsafe open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { _ = close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count < 64 * 1024 * 1024 {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
            if count < 0 { return nil }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func write(_ text: String, to file: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }
}
