/// Cells below each other; the first of each row, and the first row, say what the others are.
struct Table {
    let title: String
    let rows: [[String]]

    /// For a terminal.
    var text: String {
        let widths = rows.reduce(into: [Int](repeating: 0, count: rows.map(\.count).max() ?? 0)) { widths, row in
            for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) }
        }
        let lines = rows.map { row in
            row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + space : space + cell
            }.joined(separator: "  ")
        }
        return ([title] + lines).joined(separator: "\n") + "\n"
    }

    /// For an article.
    var markdown: String {
        let lines = rows.map { "| " + $0.joined(separator: " | ") + " |" }
        let rule = "|" + String(repeating: "---|", count: rows.first?.count ?? 0)
        return (["**\(title)**", "", lines[0], rule] + lines.dropFirst()).joined(separator: "\n") + "\n"
    }

    /// A number with as many digits as tell something.
    static func number(_ value: Double) -> String {
        let digits: Double = abs(value) < 10 ? 100 : abs(value) < 100 ? 10 : 1
        let rounded = (value * digits).rounded() / digits
        return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int(rounded))" : "\(rounded)"
    }
}
