import CMeasure
import Glibc

// usage: bench-table RESULTS [--json FILE] [--svg FILE] [--article FILE] [--check]
//
// Prints the tables of what Benchmarks/run has measured. With --article the tables in that file are replaced. With
// --check it ends with status 1 where a limit is missed; what was not measured is not missed.

func read(_ path: String) -> String {
    guard let file = fopen(path, "r") else {
        complain("\(path) cannot be read")
        exit(66)
    }
    defer { fclose(file) }
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}

func write(_ text: String, to path: String) {
    guard let file = fopen(path, "w") else {
        complain("\(path) cannot be written")
        exit(73)
    }
    fputs(text, file)
    fclose(file)
}

var arguments = CommandLine.arguments.dropFirst()
guard let source = arguments.popFirst() else {
    complain("usage: bench-table RESULTS [--json FILE] [--svg FILE] [--article FILE] [--check]")
    exit(64)
}
let results = Results(lines: read(source).split(separator: "\n"))
for (key, text) in results.facts { print("\(key): \(text)") }
for table in Tables.all(results) { print("\n" + table.text, terminator: "") }
var isMissed = false
while let option = arguments.popFirst() {
    switch (option, option == "--check" ? "" : arguments.popFirst()) {
    case ("--json", let path?): write(Forms.json(results), to: path)
    case ("--svg", let path?): write(Forms.svg(results), to: path)
    case ("--article", let path?):
        guard let text = Forms.article(read(path), with: results) else {
            complain("\(path) lacks the marks between which the tables stand")
            exit(65)
        }
        write(text, to: path)
    case ("--check", _):
        isMissed = Limit.all.contains { limit in limit.value(in: results).map { $0 > limit.most } ?? false }
    default:
        complain("what is \(option)?")
        exit(64)
    }
}
exit(isMissed ? 1 : 0)
