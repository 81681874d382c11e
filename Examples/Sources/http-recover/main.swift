import ArgumentParser
import CommandLineSupport

Program.openStandardDescriptors()
if let script = CompletionScript.forZsh(of: HTTPRecoverCommand.self) {
    print(script)
    Program.exit(.success)
}
let command = HTTPRecoverCommand.parseOrExit()
do {
    let plan = try CallPlan(command)
    let runner = try Runner(plan)
    Program.run(emergency: runner.abandon, runner.run)
} catch let error as InvalidOption {
    HTTPRecoverCommand.exitWithUsage(error)
} catch {
    Terminal().write("http-recover: \(error)")
    Program.exit(.badInput)
}
