#if Redis
import HTTPRecovery

/// What is known of the present attempt to connect, and of those before it.
struct Attempt {
    /// When the attempt has to be through.
    var deadline = Monotonic.never
    /// When the next address has its turn.
    var addressDeadline = Monotonic.never
    /// The addresses that were not tried yet.
    var addresses: [Address] = []
    /// Whether the TLS handshake goes on when the socket can be written.
    var wantsWrite = false
    /// Before this the next attempt does not begin.
    var pausesUntil: UInt64 = 0
    /// How long the pause after the next failure is.
    var pause: Duration = Self.shortestPause
    /// Why the last attempt failed.
    var lastError: SharedState.StoreError?
    /// Whether a name is being looked up; only one is at a time.
    var isLookingUp = false

    static let shortestPause: Duration = .milliseconds(50)
    static let longestPause: Duration = .milliseconds(500)
}

extension Connection {
    /// Begins to connect, if a command waits for it; while a failure is fresh it fails at once instead.
    ///
    /// What has to be taken back is reason enough: a lease would be held by nobody until it runs out.
    func advance() {
        guard case .idle = phase else { return }
        if !amends.isEmpty {
            let now = Monotonic.now()
            amends.removeAll { $0.deadline <= now }
        }
        if queued.isEmpty, amends.isEmpty { return }
        guard Monotonic.now() >= attempt.pausesUntil else {
            return failQueued(attempt.lastError ?? .noAnswer("it was lost", configuration))
        }
        attempt.deadline = Monotonic.deadline(after: configuration.connectTimeout)
        switch configuration.endpoint.choice {
        case .unix(let path): connect(to: Address(path: path).map { [$0] } ?? [])
        case .tcp(let host, let port):
            if case .success(let addresses) = Address.lookUp(host, port: port, numeric: true) {
                return connect(to: addresses)
            }
            phase = .resolving
            // The last lookup has not come back: its answer will do.
            if attempt.isLookingUp { return }
            attempt.isLookingUp = Address.lookUpAside(host, port: port) { self.found($0) }
            if !attempt.isLookingUp { failAttempt(SharedState.StoreError("the Redis store has no thread left")) }
        }
    }

    /// Goes on with the addresses of a name.
    func connect(to addresses: Result<[Address], SharedState.StoreError>) {
        attempt.isLookingUp = false
        guard case .resolving = phase else { return }
        switch addresses {
        case .success(let addresses): connect(to: addresses)
        case .failure(let error): failAttempt(error)
        }
    }

    private func connect(to addresses: [Address]) {
        attempt.addresses = addresses
        connectToNext(after: .noAnswer("its name has no address", configuration))
    }

    /// Tries the next address; with none left the attempt has failed.
    func connectToNext(after error: SharedState.StoreError) {
        var error = error
        phase = .idle
        while !attempt.addresses.isEmpty {
            let address = attempt.addresses.removeFirst()
            do throws(SharedState.StoreError) {
                if tls == nil, let settings = configuration.tls, case .tcp(let host, _) = configuration.endpoint.choice
                {
                    tls = try TLSContext(settings, host: host)
                }
                phase = .connecting(try Wire(to: address, tls: tls))
                let now = Monotonic.now()
                let rest = attempt.deadline > now ? attempt.deadline - now : 0
                attempt.addressDeadline = now &+ rest / UInt64(attempt.addresses.count + 1)
                return
            } catch let failure {
                error = failure
            }
        }
        failAttempt(error)
    }

    /// Goes on with a connection that has moved.
    func secure(_ wire: Wire) {
        if case .connecting = phase {
            if case .failed(let error) = wire.finishConnecting() { return connectToNext(after: error) }
            phase = .securing(wire)
        }
        switch wire.secure() {
        case .done: greet(wire)
        case .wantsRead: attempt.wantsWrite = false
        case .wantsWrite: attempt.wantsWrite = true
        case .closed: failAttempt(.noAnswer("it has closed the connection", configuration))
        case .failed(let error): failAttempt(error)
        }
    }

    /// Signs in, and sees whether the server answers.
    private func greet(_ wire: Wire) {
        guard let reader = ReplyReader() else {
            return failAttempt(SharedState.StoreError("the Redis store has no memory left"))
        }
        self.reader = reader
        phase = .greeting(wire)
        var commands: [Command] = []
        if let password = configuration.password {
            commands.append(
                configuration.user.map { Command("AUTH", $0, password.text) } ?? Command("AUTH", password.text)
            )
        }
        if configuration.database > 0 { commands.append(Command("SELECT", String(configuration.database))) }
        if configuration.sentinel != nil { commands.append(Command("ROLE")) }
        commands.append(Command("PING"))
        let now = Monotonic.now()
        for command in commands { send(Request(command, purpose: .greeting, deadline: attempt.deadline), at: now) }
        write(to: wire)
    }

    /// Takes the answer to one of the connection's own commands.
    func takeGreeting(_ reply: Reply, to request: Request) {
        guard case .greeting(let wire) = phase else { return }
        // Who may not say PING has been answered all the same; who may not ask for the role could be at a replica.
        if case .error(let error) = reply, error.code != "NOPERM" || request.command.words != Command("PING").words {
            switch request.command.words.first {
            case Array("AUTH".utf8) where error.code == "ERR":
                return failAttempt(
                    SharedState.StoreError("the Redis server does not accept the sign-in; check user and password")
                )
            case Array("SELECT".utf8) where error.code == "ERR":
                return failAttempt(
                    SharedState.StoreError("the Redis server does not have the database; a cluster has only 0")
                )
            default: return failAttempt(error.storeError)
            }
        }
        if case .array(let role) = reply, let name = role.first, name != .bytes(Array("master".utf8)) {
            return failAttempt(
                SharedState.StoreError(
                    "the Redis server at \(configuration.endpoint) is a replica yet; it will answer when the Sentinels "
                        + "have promoted it"
                )
            )
        }
        guard inFlight.isEmpty else { return }
        phase = .ready(wire)
        attempt.deadline = Monotonic.never
        attempt.pause = Attempt.shortestPause
        attempt.lastError = nil
    }

    /// Ends an attempt; all that wait for it fail.
    func failAttempt(_ error: SharedState.StoreError) {
        attempt.lastError = error
        attempt.deadline = Monotonic.never
        attempt.addresses = []
        attempt.pausesUntil = Monotonic.deadline(after: attempt.pause)
        attempt.pause = min(attempt.pause * 2, Attempt.longestPause)
        drop()
        failQueued(error)
    }
}
#endif
