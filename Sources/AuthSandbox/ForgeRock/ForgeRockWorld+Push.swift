import HTTPRecovery

// Waits: for some time, or for somebody's phone (Polling Wait, Push Sender, Push Wait and Push Result Verifier).
extension ForgeRockWorld {
    /// The page of a wait; its only button is the way out.
    static func waitPage(_ exchange: ForgeRockExchange, choosing number: String? = nil) -> ForgeRockPage {
        let wait = ForgeRockCallback(
            "PollingWaitCallback",
            [
                "waitTime": .string(String(exchange.settings.pollWait)),
                "message": "Waiting for the response from your device...",
            ]
        )
        let hidden = number.map { [ForgeRockCallback.hidden("pushChallengeNumber", $0)] } ?? []
        return ForgeRockPage("PollingWait", [wait] + hidden + [.confirmation(["Exit"], preset: 100)])
    }

    mutating func poll(
        _ run: inout ForgeRockRun,
        _ answers: ForgeRockAnswers,
        _ exchange: ForgeRockExchange
    ) -> String? {
        if hasLeft(run, answers) { return "exit" }
        guard isInTime(run, exchange) else { return nil }
        run.polls += 1
        return run.polls >= exchange.settings.pollCount ? "done" : nil
    }

    // MARK: Pushes

    /// The push that waits; one is sent if there is none.
    mutating func send(_ run: inout ForgeRockRun, _ exchange: ForgeRockExchange) -> ForgeRockPush {
        if let present = run.push { return present }
        let number = run.pushes == 0 ? exchange.settings.pushNumber : String(Int.random(in: 10...99, using: &random))
        let push = ForgeRockPush(number: number, expiresAt: exchange.now + exchange.settings.pushLife)
        (run.push, run.polls) = (push, 0)
        run.pushes += 1
        counters.pushes += 1
        return push
    }

    /// What came of a push; nil as long as it waits.
    ///
    /// Somebody who has decided is known at the next poll. Whoever has not has confirmed it after some polls, unless it
    /// has run out by then.
    mutating func push(
        _ run: inout ForgeRockRun,
        _ answers: ForgeRockAnswers,
        _ exchange: ForgeRockExchange
    ) -> String? {
        if hasLeft(run, answers) { return "exit" }
        guard isInTime(run, exchange) else { return nil }
        run.polls += 1
        guard let push = run.push else { return nil }
        if let isApproved = push.isApproved { return isApproved ? "done" : "refused" }
        if push.expiresAt <= exchange.now {
            (run.push, run.polls) = (nil, 0)
            return run.pushes >= exchange.settings.pushAttempts ? "exhausted" : "expired"
        }
        return run.polls >= exchange.settings.pollCount ? "done" : nil
    }

    /// Has a person decide about what waits on their phone.
    mutating func decide(_ isApproved: Bool, for name: String?, now: Int64) throws(SandboxError) -> Int {
        let owner = try name.map { name throws(SandboxError) in try known(name).name.lowercased() }
        let waiting = runs.filter { _, run in
            guard case .push? = ForgeRockTree.all[run.tree]?.places[run.node]?.node, let push = run.push else {
                return false
            }
            return push.isApproved == nil && push.expiresAt > now && (owner == nil || run.account == owner)
        }
        guard !waiting.isEmpty else { throw SandboxError(.invalidInput, "no push waits") }
        for id in waiting.keys { runs[id]?.push?.isApproved = isApproved }
        return waiting.count
    }

    // MARK: Polls

    /// Whether the way out was taken, which is the last of what is shown.
    private func hasLeft(_ run: ForgeRockRun, _ answers: ForgeRockAnswers) -> Bool {
        answers.number(run.callbacks.count - 1) == 0
    }

    /// Whether the wait was kept; rounding is no hurry.
    private mutating func isInTime(_ run: ForgeRockRun, _ exchange: ForgeRockExchange) -> Bool {
        guard exchange.now - run.shownAt < exchange.settings.pollWait - 20 else { return true }
        counters.earlyPolls += 1
        return false
    }
}
