import ArgumentParser
import CommandLineSupport
import HTTPRecovery

/// Whether and how a failed request is sent again.
struct RecoveryOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "A policy as JSON, with the options of simulate but provider; what is written beside it counts more. Default: none.",
            valueName: "FILE"
        ),
        completion: .file()
    )
    var policy: String?

    // Every value is taken as one, with a dash in front too: its own check says what is wrong with it.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The most attempts, the first included. Default: 3.", valueName: "N")
    )
    var maxAttempts: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The same as --max-attempts N+1: how often a request is sent again.", valueName: "N")
    )
    var retry: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The delay between attempts where the server states none. Default: it grows.",
            valueName: "S"
        ),
        transform: Seconds.parse
    )
    var retryDelay: Seconds?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("No attempt begins later than that after the first. Default: no limit.", valueName: "S"),
        transform: Seconds.parse
    )
    var retryMaxTime: Seconds?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The time a call may take, with everything. Default: no limit.", valueName: "S"),
        transform: Seconds.parsePositive
    )
    var deadline: Seconds?

    @Option(
        name: [.customShort("m"), .customLong("max-time")],
        parsing: .unconditional,
        help: ArgumentHelp("The same as --deadline; 0 is no limit.", valueName: "S"),
        transform: Seconds.parse
    )
    var maxTime: Seconds?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The time an attempt may take, its body included. Default: 30.", valueName: "S"),
        transform: Seconds.parsePositive
    )
    var attemptTimeout: Seconds?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The longest time without a byte in either direction. Default: any.", valueName: "S"),
        transform: Seconds.parsePositive
    )
    var idleTimeout: Seconds?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The longest single wait. Default: 120.", valueName: "S"),
        transform: Seconds.parse
    )
    var maxWait: Seconds?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The first and the longest delay where the server states none.",
            valueName: "BASE,CAP"
        ),
        transform: BackoffRange.parse
    )
    var backoff: BackoffRange?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Sends an Idempotency-Key: auto makes a new one for each call, the same on each of its attempts; a VALUE is \
            sent as given. Default: none.
            """,
            valueName: "auto|none|VALUE"
        ),
        transform: IdempotencyKeyOption.parse
    )
    var idempotencyKey = IdempotencyKeyOption.none

    @Flag(help: "Sending the request twice does no harm: try again even when nobody knows whether it was processed.")
    var replayable = false

    @Flag(help: "Send once, whatever happens.")
    var noRecovery = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The retries that each call adds to the budget, 0 to 1. Default: 0.2.", valueName: "R")
    )
    var budgetRatio: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The retries that are in the budget from the start. Default: 10.", valueName: "N")
    )
    var budgetBurst: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Stops asking a server of whose last answers, in a minute or two attempts' time, so large a share (0 to 1) has \
            failed, and probes it after a while. Default: none.
            """,
            valueName: "RATIO,MIN_CALLS,OPEN_SECONDS"
        ),
        transform: BreakerOption.parse
    )
    var breaker: BreakerOption?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Sends an idempotent request once more if no answer has come in that time, and takes the first good one.",
            valueName: "S"
        ),
        transform: Seconds.parse
    )
    var hedge: Seconds?

    @Option(help: "Whose errors to expect.")
    var provider = ProviderChoice.http

    /// The time that a call may take, by either name; 0 for no limit, nil if nothing is said.
    var callTime: Seconds? { deadline ?? maxTime }

    /// The time for retries; nil for no limit, which 0 is too.
    var retryTime: Duration? { retryMaxTime.flatMap { $0.duration > .zero ? $0.duration : nil } }

    /// What contradicts itself or is out of range, as a sentence.
    func check() throws(InvalidOption) {
        if maxAttempts != nil, retry != nil {
            throw InvalidOption("--retry N is --max-attempts N+1: write one of them")
        }
        if deadline != nil, maxTime != nil {
            throw InvalidOption("-m is --deadline: write one of them")
        }
        if retryDelay != nil, backoff != nil {
            throw InvalidOption("--retry-delay and --backoff contradict each other")
        }
        if noRecovery {
            let needing = [
                ("--policy", policy != nil), ("--max-attempts", maxAttempts != nil), ("--retry", retry != nil),
                ("--retry-delay", retryDelay != nil), ("--retry-max-time", retryMaxTime != nil),
                ("--backoff", backoff != nil), ("--max-wait", maxWait != nil), ("--budget-ratio", budgetRatio != nil),
                ("--budget-burst", budgetBurst != nil), ("--breaker", breaker != nil), ("--hedge", hedge != nil),
                ("--replayable", replayable),
            ]
            if let name = needing.first(where: \.1)?.0 {
                throw InvalidOption("\(name) needs the recovery that --no-recovery switches off")
            }
        }
    }
}
