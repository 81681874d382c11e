import ArgumentParser
import CommandLineSupport

Program.openStandardDescriptors()
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
