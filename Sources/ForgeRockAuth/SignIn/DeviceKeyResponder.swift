import AuthRecovery
import HTTPRecovery

/// Answers the callbacks that want a key of the device, on success and on failure.
struct DeviceKeyResponder: Sendable {
    let keys: (any Credentials.DeviceKeys)?
    let time: TimeSource

    /// Binds a key of this device to the account.
    ///
    /// - Throws: `CancellationError` alone: whatever else goes wrong, the server is told.
    func bind(_ callback: inout JourneyCallback) async throws {
        let request = Self.request(callback, isBinding: true)
        guard let keys else { return Self.tell(.unsupported, &callback) }
        switch try await within(request.timeout, { try await keys.bind(request) }) {
        case .success(let binding):
            callback.setInput(.string(binding.proof.reveal()), named: "jws")
            callback.setInput(.string(binding.deviceID), named: "deviceId")
            if let name = binding.deviceName { callback.setInput(.string(name.bounded(to: 256)), named: "deviceName") }
        case .failure(let failure): Self.tell(failure, &callback)
        }
    }

    /// Has a key that was bound sign.
    ///
    /// - Throws: As ``bind(_:)``.
    func sign(_ callback: inout JourneyCallback) async throws {
        let request = Self.request(callback, isBinding: false)
        guard let keys else { return Self.tell(.notRegistered, &callback) }
        switch try await within(request.timeout, { try await keys.sign(request) }) {
        case .success(let proof): callback.setInput(.string(proof.reveal()), named: "jws")
        case .failure(let failure): Self.tell(failure, &callback)
        }
    }

    private func within<Result: Sendable>(
        _ timeout: Duration,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Swift.Result<Result, Credentials.DeviceKeyFailure> {
        do {
            return .success(try await time.withTimeout(until: time.now.advanced(by: timeout), body))
        } catch {
            try Task.checkCancellation()
            switch error {
            case let failure as Credentials.DeviceKeyFailure: return .failure(failure)
            case is TimeoutExceeded: return .failure(.timeout)
            default: return .failure(.abort)
            }
        }
    }

    private static func request(_ callback: JourneyCallback, isBinding: Bool) -> Credentials.DeviceKeyRequest {
        func text(_ name: String) -> String? { callback[output: name]?.string?.nonEmpty?.bounded(to: 4096) }
        let stated = callback[output: "timeout"]?.lenientNumber?.double
        let consent = text("authenticationType").flatMap { Credentials.DeviceKeyRequest.Consent(rawValue: $0) }
        return Credentials.DeviceKeyRequest(
            challenge: text("challenge") ?? "",
            userID: text("userId"),
            userName: text("username"),
            // What is not known wants at least what nobody can leave out.
            consent: isBinding ? consent ?? .biometric : nil,
            title: text("title"),
            subtitle: text("subtitle"),
            text: text("description"),
            // Seconds, other than for WebAuthn.
            timeout: stated.map { $0 > 0 ? min(.saturating(seconds: $0), .seconds(3600)) : .seconds(60) }
                ?? .seconds(60)
        )
    }

    /// Tells the server the word that takes the node to its outcome.
    private static func tell(_ failure: Credentials.DeviceKeyFailure, _ callback: inout JourneyCallback) {
        let word =
            switch failure {
            case .timeout: "Timeout"
            case .unsupported: "Unsupported"
            case .notRegistered: "ClientNotRegistered"
            case .abort: "Abort"
            @unknown default: "Abort"
            }
        callback.setInput(.string(word), named: "clientError")
    }
}
