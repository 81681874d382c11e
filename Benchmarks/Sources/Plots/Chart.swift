/// Lines over an axis, as SVG; several of them below each other.
public struct Chart: Sendable {
    /// A line from point to point.
    public struct Line: Sendable {
        let name: String
        let points: [(x: Double, y: Double)]

        /// Creates a line with its name beside the chart.
        public init(name: String, points: [(x: Double, y: Double)]) {
            self.name = name
            self.points = points
        }
    }

    let title: String
    let lines: [Line]
    /// A span that is shaded.
    let shade: Range<Double>?
    /// Nothing above it is drawn.
    let most: Double
    /// What stands below the axis at 0, 1, 2 and so on; numbers at its quarters if there is nothing.
    let labels: [String]

    /// Creates a chart; the parameters are the properties.
    public init(
        title: String,
        lines: [Line],
        shade: Range<Double>? = nil,
        most: Double = .infinity,
        labels: [String] = []
    ) {
        self.title = title
        self.lines = lines
        self.shade = shade
        self.most = most
        self.labels = labels
    }

    private static let colours = ["#c33", "#e90", "#86c", "#27c", "#2a7", "#0aa", "#555"]
    private static let (left, width, height) = (60.0, 760.0, 200.0)

    /// The charts, one below the other.
    public static func svg(_ charts: [Chart]) -> String {
        let total = Double(charts.count) * (height + 60) + 20
        let longest = charts.flatMap(\.lines).map(\.name.count).max() ?? 0
        var parts = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(max(1000, 850 + 6 * longest))\" height=\"\(Int(total))\" "
                + "font-family=\"sans-serif\" font-size=\"11\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        ]
        for (index, chart) in charts.enumerated() { parts += chart.draw(at: Double(index) * (height + 60) + 30) }
        return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private func draw(at top: Double) -> [String] {
        let all = lines.flatMap(\.points)
        let (right, peak) = (max(all.map(\.x).max() ?? 1, 1e-9), max(min(all.map(\.y).max() ?? 1, most), 1e-9))
        let high = labels.isEmpty ? peak : peak.rounded(.up)
        func place(_ point: (x: Double, y: Double)) -> (String, String) {
            (
                Self.short(Self.left + point.x / right * Self.width),
                Self.short(top + Self.height - min(point.y, high) / high * Self.height)
            )
        }
        var parts = ["<text x=\"\(Self.left)\" y=\"\(top - 8)\" font-size=\"13\">\(title)</text>"]
        if let shade {
            let (start, end) = (place((shade.lowerBound, 0)).0, shade.upperBound - shade.lowerBound)
            parts.append(
                "<rect x=\"\(start)\" y=\"\(top)\" width=\"\(Self.short(end / right * Self.width))\" "
                    + "height=\"\(Self.height)\" fill=\"#eee\"/>"
            )
        }
        for tick in 0...4 {
            let y = place((0, high * Double(tick) / 4)).1
            parts.append(
                "<text x=\"\(Self.left - 6)\" y=\"\(y)\" text-anchor=\"end\">\(Self.short(high * Double(tick) / 4))</text>"
            )
        }
        let quarters = (0...4).map { (right * Double($0) / 4, Self.short(right * Double($0) / 4)) }
        for (x, label) in labels.isEmpty ? quarters : labels.enumerated().map({ (Double($0.offset), $0.element) }) {
            parts.append(
                "<text x=\"\(place((x, 0)).0)\" y=\"\(top + Self.height + 16)\" text-anchor=\"middle\">\(label)</text>"
            )
        }
        for (index, line) in lines.enumerated() {
            let colour = Self.colours[index % Self.colours.count]
            let points = line.points.map { point in
                let (x, y) = place(point)
                return "\(x),\(y)"
            }
            parts.append(
                "<polyline fill=\"none\" stroke=\"\(colour)\" points=\"\(points.joined(separator: " "))\"/>"
                    + "<text x=\"840\" y=\"\(top + 14 + Double(index) * 16)\" fill=\"\(colour)\">\(line.name)</text>"
            )
        }
        return parts
    }

    private static func short(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
}
