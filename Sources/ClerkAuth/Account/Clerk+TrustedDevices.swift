public import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Clerk {
    /// Enrolls the key of this device: from now on it signs its owner in.
    ///
    /// - Parameter responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Returns: Clerk's id of the key, for ``signIn(trustedDeviceID:answering:options:)``.
    /// - Throws: `RecoveryError`; of the kind `misconfigured` without a key in the configuration or for an app that the
    ///   instance does not list, `conflict` if the key is enrolled already, `factor_unavailable` if it did not sign.
    ///   `CancellationError` as soon as the task is cancelled.
    public func enrollTrustedDevice(answering responder: (any ChallengeResponder)? = nil) async throws -> String {
        guard let key = api.configuration.trustedDevice else { throw RecoveryError.missing("trusted_device") }
        // A challenge that nobody signs is good for nothing.
        let challenge = try await manage(
            .post,
            "\(Self.trustedDevicesPath)/prepare",
            key.form,
            resend: .replayable,
            responder
        )
        guard let data = challenge["client_data"]?.string?.nonEmpty else { throw RecoveryError(.unreadable, in: nil) }
        var form = key.form
        form.add("client_data", data)
        form.add("signature", secret: try await key.signature(of: data))
        let path = "\(Self.trustedDevicesPath)/attempt"
        let enrolled = try await manage(.post, path, form, resend: .spending, responder)
        guard let device = ClerkTrustedDevice(enrolled) else { throw RecoveryError(.unreadable, in: nil) }
        return device.id
    }

    /// The keys of devices that the person has enrolled.
    ///
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func trustedDevices() async throws -> [ClerkTrustedDevice] {
        let list = try await manage(.get, Self.trustedDevicesPath, FormFields(), nil)
        guard let devices = list.array else { throw RecoveryError(.unreadable, in: nil) }
        return devices.prefix(256).compactMap { ClerkTrustedDevice($0) }
    }

    /// Whether Clerk still knows a key, without an attempt to sign in.
    ///
    /// - Parameter id: Clerk's id of the key.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func isTrustedDevice(_ id: String) async throws -> Bool {
        let call = ClerkAPI.Call(
            method: .post,
            path: "/client/trusted_devices/validate",
            body: .form(["trusted_device_id": id]),
            resend: .replayable
        )
        let answer = try await api.perform(call)
        guard let isValid = (answer.json["response"] ?? answer.json)["valid"]?.bool else {
            throw answer.failure(.unreadable)
        }
        return isValid
    }

    /// Takes the key of a device away: it signs nobody in any more.
    ///
    /// - Parameters:
    ///   - id: Clerk's id of the key.
    ///   - responder: Answers what is asked if the person has to prove themselves again; nil leaves that to the caller.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func removeTrustedDevice(_ id: String, answering responder: (any ChallengeResponder)? = nil) async throws {
        let path = "\(Self.trustedDevicesPath)/\(FormFields.encode(segment: id))"
        _ = try await manage(.delete, path, FormFields(), responder)
    }

    private static let trustedDevicesPath = "/v1/me/trusted_devices"
}
