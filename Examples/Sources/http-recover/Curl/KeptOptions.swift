import ArgumentParser

/// Options of curl that say what is so anyway.
struct KeptOptions: ParsableArguments {
    @Flag(help: "Compressed answers are asked for, and come decoded, with and without it.")
    var compressed = false

    @Flag(help: "Credentials are sent as Basic with and without it.")
    var basic = false

    @Flag(help: "A connection that was refused is tried again with and without it.")
    var retryConnrefused = false

    @Flag(help: "The body of an error is written, and the exit status is 22, with and without it.")
    var failWithBody = false

    @Flag(
        name: [.customShort("g"), .customLong("globoff")],
        help: "Braces and brackets in URLs mean nothing, with and without it."
    )
    var globoff = false

    @Flag(help: "There is no progress meter.")
    var noProgressMeter = false

    @Flag(help: "There is no file with options.")
    var disable = false

    @Flag(help: "The proxy's credentials are sent as Basic.")
    var proxyBasic = false
}
