import HTTPRecovery

extension Simulation.Report {
    /// A drawing of the calls over time, as SVG: a line for each call, a bar for each attempt, a thin line for each wait.
    ///
    /// - Parameter title: What stands above it.
    public func plot(title: String = "") -> String {
        TimelinePlot(self, title: title).svg
    }
}

/// A report as a drawing.
private struct TimelinePlot {
    private static let left = 60.0
    private static let width = 900.0
    private static let row = 22.0
    private static let top = 40.0
    /// More calls than anybody can tell apart are not drawn.
    private static let most = 500

    private let report: Simulation.Report
    private let title: String
    private let span: Double

    init(_ report: Simulation.Report, title: String) {
        self.report = report
        self.title = title
        span = max(report.calls.map(\.time.inSeconds).max() ?? 0, 0.001)
    }

    var svg: String {
        let calls = report.calls.prefix(Self.most)
        let height = Self.top + Double(calls.count) * Self.row + 40
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(Int(Self.left + Self.width + 20))\" "
                + "height=\"\(Int(height))\" font-family=\"sans-serif\" font-size=\"11\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
            "<text x=\"\(Int(Self.left))\" y=\"20\" font-size=\"14\">\(Self.escaped(title))</text>",
        ]
        for tick in 0...10 {
            let time = span * Double(tick) / 10
            let place = x(time)
            lines.append(
                "<line x1=\"\(place)\" y1=\"\(Self.top - 8)\" x2=\"\(place)\" y2=\"\(height - 30)\" stroke=\"#ddd\"/>"
                    + "<text x=\"\(place)\" y=\"\(height - 14)\" text-anchor=\"middle\">\(Self.short(time)) s</text>"
            )
        }
        for (index, call) in calls.enumerated() { lines += draw(call, index) }
        lines.append("</svg>")
        return lines.joined(separator: "\n") + "\n"
    }

    private func draw(_ call: Simulation.Report.Call, _ index: Int) -> [String] {
        let middle = Self.top + (Double(index) + 0.5) * Self.row
        var lines = ["<text x=\"\(Self.left - 8)\" y=\"\(middle + 4)\" text-anchor=\"end\">\(index + 1)</text>"]
        for wait in call.waits {
            let end = min((wait.time.saturatingAdding(wait.duration)).inSeconds, call.time.inSeconds)
            lines.append(
                "<line x1=\"\(x(wait.time.inSeconds))\" y1=\"\(middle)\" x2=\"\(x(end))\" y2=\"\(middle)\" "
                    + "stroke=\"#999\" stroke-dasharray=\"3 2\"><title>wait \(wait.reason.rawValue)</title></line>"
            )
        }
        for attempt in call.attempts {
            let (start, end) = (attempt.time.inSeconds, (attempt.end ?? call.time).inSeconds)
            let word = attempt.status.map { "\($0)" } ?? attempt.error?.rawValue ?? "cut off"
            lines.append(
                "<rect x=\"\(x(start))\" y=\"\(middle - 6)\" width=\"\(max(3, x(end) - x(start)))\" height=\"12\" "
                    + "fill=\"\(Self.colour(of: attempt))\"><title>\(word)</title></rect>"
            )
        }
        let colour = call.end == .ok ? "#2a7" : call.end == .failed ? "#c33" : "#999"
        lines.append("<circle cx=\"\(x(call.time.inSeconds))\" cy=\"\(middle)\" r=\"3\" fill=\"\(colour)\"/>")
        return lines
    }

    private func x(_ seconds: Double) -> Double {
        ((Self.left + min(seconds / span, 1) * Self.width) * 10).rounded() / 10
    }

    private static func colour(of attempt: Simulation.Report.Attempt) -> String {
        switch attempt.status {
        case .some(200..<400): "#2a7"
        case .some(429): "#e90"
        case .some(400..<500): "#86c"
        case .some: "#c33"
        case nil: attempt.error == nil ? "#bbb" : "#555"
        }
    }

    private static func short(_ number: Double) -> String {
        let rounded = (number * 1000).rounded() / 1000
        return JSONValue.Number(rounded).text
    }

    private static func escaped(_ text: String) -> String {
        // Scalar by scalar: with a combining one behind it, a sign is another character.
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            // XML has no control characters, not even as references.
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: "\u{FFFD}"
            default: String(scalar)
            }
        }
        .joined()
    }
}
