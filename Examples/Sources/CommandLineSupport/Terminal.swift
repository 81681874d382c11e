import Glibc
import HTTPRecovery
import Locking

/// The screen of the person who runs the program, by way of standard error.
///
/// It has one status line, which is always the last and is redrawn in place. Without a screen there is no status line
/// and no colour.
public final class Terminal: Sendable {
    /// How a piece of text is set off.
    public enum Style: String, Sendable {
        /// Less important.
        case faint = "2"
        /// Good news.
        case good = "32"
        /// Something to know.
        case notice = "33"
        /// Bad news.
        case bad = "31"
    }

    /// Whether a person looks at it, so that a line may be redrawn.
    public let isInteractive: Bool

    /// Whether a person is told what the program is doing, beside its errors.
    public let tellsProgress: Bool

    /// Whether something else is written there, so that people are told nothing.
    public let isQuiet: Bool

    private let descriptor: Int32
    private let hasColor: Bool
    private let line = Locked(LastLine())

    private struct LastLine: Sendable {
        var status: ScreenText?
        /// Whether it is a question, and so the person's.
        var isQuestion = false
    }

    /// Creates the terminal on standard error.
    ///
    /// - Parameters:
    ///   - isQuiet: Whether something else is written there, so that people are told nothing.
    ///   - verbosity: How much they are told. Without a screen, ``Verbosity/normal`` tells errors alone.
    ///   - isPlain: Whether no line is redrawn and none has a colour, whatever the screen can do.
    public init(isQuiet: Bool = false, verbosity: Verbosity = .normal, isPlain: Bool = false) {
        self.descriptor = STDERR_FILENO
        self.isQuiet = isQuiet
        let isScreen = !isQuiet && isatty(STDERR_FILENO) != 0
        self.tellsProgress = !isQuiet && verbosity != .quiet && (isScreen || isPlain || verbosity == .verbose)
        self.isInteractive = isScreen && tellsProgress && !isPlain && Environment.text("TERM") != "dumb"
        let isColorful = Environment.text("TERM") != "dumb" && Environment.text("NO_COLOR") == nil
        self.hasColor = isScreen && !isPlain && isColorful
    }

    /// The columns of the screen; 80 if it does not say.
    public var width: Int {
        var size = winsize()
        // The system call fills the local value.
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// The text set off, if there is colour.
    public func styled(_ text: ScreenText, _ style: Style) -> ScreenText {
        hasColor ? ScreenText(trusted: "\u{1B}[\(style.rawValue)m\(text.description)\u{1B}[0m") : text
    }

    /// Writes lines above the status line.
    public func write(_ text: ScreenText) {
        line.withLock { line in
            let isShown = line.status != nil
            line.status = nil
            put((isShown ? Self.eraseLine : "") + text + "\n")
        }
    }

    /// Writes a text above the status line that may end within a line.
    public func write(part text: ScreenText) {
        line.withLock { line in
            let isShown = line.status != nil
            line.status = nil
            put((isShown ? Self.eraseLine : "") + text)
        }
    }

    /// Tells the person something that is no error, unless something else is written there.
    public func tell(_ text: ScreenText) {
        if !isQuiet { write(styled(text, .notice)) }
    }

    /// Shows another status line; nil takes it away.
    ///
    /// Nothing happens if nobody looks, and while a question stands where the status line would.
    public func showStatus(_ text: ScreenText?) {
        guard isInteractive else { return }
        line.withLock { line in
            guard !line.isQuestion, text != line.status else { return }
            line.status = text
            guard let text else { return put(Self.eraseLine) }
            put(Self.eraseLine + styled("\(text, limit: max(1, width - 1))", .faint))
        }
    }

    /// Keeps the status line away while somebody is asked something.
    func holdStatus(_ isAsking: Bool) {
        if isAsking { showStatus(nil) }
        line.withLock { $0.isQuestion = isAsking }
    }

    private func put(_ text: ScreenText) {
        // Nobody is left to be told when standard error is gone.
        try? FileDescriptor.write(text.description.utf8, to: descriptor, name: "standard error")
    }

    private static let eraseLine: ScreenText = "\r\u{1B}[K"
}
