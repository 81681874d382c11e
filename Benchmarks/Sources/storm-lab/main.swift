import HTTPRecovery
import Plots

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

// usage: storm-lab [DIRECTORY]: prints tables; with a directory, writes storm.svg and contention.svg into it.

func cell(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
}
func rounded(_ number: Double, _ digits: Double = 100) -> String { "\((number * digits).rounded() / digits)" }
func write(_ text: String, to path: String) {
    guard let file = unsafe fopen(path, "w") else {
        print("\(path) cannot be written")
        exit(65)
    }
    _ = unsafe fputs(text, file)
    _ = unsafe fclose(file)
}

print("A thousand clients, a service for 300 attempts a second that is down from 60 s to 120 s")
print(
    cell("", 20) + cell("attempts a call in the outage", 32) + cell("s until it is over", 22) + "calls that succeeded"
)
var courses: [Storm.Course] = []
for variant in Storm.variants {
    do {
        let course = try Storm.run(variant, seed: 1)
        courses.append(course)
        print(
            cell(course.name, 20) + cell(rounded(course.amplification), 32)
                + cell(course.recovery.map { rounded($0, 1) } ?? "never", 22) + "\(rounded(course.share * 100, 10)) %"
        )
    } catch {
        print("\(variant.name): \(error)")
        exit(70)
    }
}

let counts = [5, 10, 20, 50, 100, 150, 200]
let contention = Contention.table(counts, rounds: 20, seed: 1)
print("\nClients that change one record on the condition that nobody else has: writes, and seconds until all are done")
print(cell("", 16) + counts.map { cell("\($0)", 16) }.joined())
for (name, results) in contention {
    print(cell(name, 16) + results.map { cell("\($0.calls), \(rounded($0.time)) s", 16) }.joined())
}

if let directory = CommandLine.arguments.dropFirst().first {
    func lines(_ values: (Storm.Course) -> [Double]) -> [Chart.Line] {
        courses.map { course in
            Chart.Line(name: course.name, points: values(course).enumerated().map { (Double($0.offset), $0.element) })
        }
    }
    let outage = StormService.outage
    let storm = [
        Chart(title: "Attempts a second", lines: lines(\.attempts), shade: outage),
        Chart(title: "Calls that succeed, a second", lines: lines(\.successes), shade: outage),
        Chart(
            title: "Seconds that the slowest of 100 successful calls takes",
            lines: lines(\.latencies),
            shade: outage
        ),
    ]
    write(Chart.svg(storm), to: directory + "/storm.svg")
    func plot(_ value: (Contention.Result) -> Double) -> [Chart.Line] {
        contention.map { name, results in
            Chart.Line(name: name, points: zip(counts, results).map { (Double($0), value($1)) })
        }
    }
    let contended = [
        Chart(title: "Writes, by clients", lines: plot { Double($0.calls) }, most: 6000),
        Chart(title: "Seconds until all are done, by clients", lines: plot(\.time), most: 20),
    ]
    write(Chart.svg(contended), to: directory + "/contention.svg")
}
