import AuthSandbox
import Testing

/// The examples of the documentation, compiled: who would sign in is the reader.
private func exampleOfAFault() async throws {
    let sandbox = try await AuthSandbox.start(scenario: .unlimited)
    defer { sandbox.stop() }

    sandbox.add(SandboxFault(.resetAfter, method: "POST", path: "*/attempt_second_factor"))
    // … sign in at sandbox.url …
    #expect(sandbox.requests(path: "*/attempt_second_factor").count == 1)  // nothing was sent twice
}

private func exampleOfACode() async throws -> String? {
    let sandbox = try await AuthSandbox.start(scenario: .unlimited)
    defer { sandbox.stop() }
    // … sign in at sandbox.url as linus@example.com, then look for the code that was sent:
    let code = sandbox.outbox(to: "linus@example.com").last?.code
    return code
}
