import AuthRecovery
import ClerkAuth
import CommandLineSupport
import HTTPRecovery

/// What a command of one provider's own has come to.
enum OwnAnswer: Sendable {
    case session(Report.Session)
    /// What goes to standard output: a body.
    case body(JSONValue)
    /// What goes to standard output: lines for people.
    case lines([ScreenText])
}

extension ClerkTask {
    /// What helps a session that is pending: an app takes nobody for signed in by it.
    static let advice: ScreenText = "Until finish-tasks has done what is left to do, it counts as signed out."
}

extension Clerk {
    /// Carries out one of Clerk's own commands.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - argument: What stands behind it.
    ///   - input: Answers what is asked.
    func perform(_ command: CommandName, _ argument: String?, _ input: SignInInput) async throws -> OwnAnswer {
        switch command {
        case .signUp: return .session(Report.Session(try await signUp(input)))
        case .factors: return .lines(try await factorLines())
        case .addFactor: return .lines(try await addFactor(argument ?? "", input))
        case .removeFactor: return .lines(try await removeFactor(argument ?? "", input))
        case .makePrimary: return .lines(try await makePrimary(argument ?? "", input))
        case .finishTasks:
            let options = input.options.bounding(SignInOptions())
            return .session(Report.Session(try await finishTasks(answering: input.responder, options: options)))
        case .sessions:
            let own = try await session()?.id
            let sessions = try await sessionsOnAllDevices()
            return .lines(sessions.map { Self.line($0, isOwn: $0.id == own) })
        case .revoke:
            try await revoke(sessionID: argument ?? "", answering: input.responder)
            return .lines(["Ended: \(argument ?? "", limit: 300)"])
        case .forgetDevice:
            try await forgetDevice()
            return .lines(["This device is forgotten: the next sign-in is a new one's."])
        case .environment:
            return .body(try await environment().json)
        case .joinWaitlist:
            let id = try await joinWaitlist(emailAddress: argument ?? "")
            return .lines(["On the waitlist: \(id, limit: 300)"])
        default: throw InputError("\(command.rawValue) is no command of Clerk's own")
        }
    }

    /// Signs somebody up with what is at hand; whatever else the instance requires is asked for.
    private func signUp(_ input: SignInInput) async throws -> ClerkSession {
        var request = ClerkSignUpRequest()
        request.ticket = try Environment.secret(input.options.ticketEnv, option: "--ticket-env")
        request.redirect = input.options.place.map { ClerkRedirect(named: $0, identifier: input.options.identifier) }
        if request.redirect == nil, request.ticket == nil || input.options.identifier != nil {
            let identifier = try await input.identifier()
            if identifier.utf8.contains(UInt8(ascii: "@")) {
                request.emailAddress = identifier
            } else if identifier.hasPrefix("+") {
                request.phoneNumber = identifier
            } else {
                request.username = identifier
            }
        }
        request.password = try await input.passwordFromInput()
        let options = input.options.bounding(SignInOptions())
        return try await signUp(request, answering: input.responder, options: options)
    }

    private static func line(_ session: ClerkSession, isOwn: Bool) -> ScreenText {
        let device = session.device
        let parts = [device?.type, device?.browser, device?.ipAddress, device?.city, device?.country].compactMap(\.self)
        let place: ScreenText = parts.isEmpty ? "" : ", \(parts.joined(separator: " "), limit: 300)"
        let mark: ScreenText = isOwn ? " (this one)" : ""
        return "\(session.id, limit: 300), \(session.status.rawValue, limit: 100)\(place)\(mark)"
    }
}
