import AuthRecovery
import HTTPRecovery

/// Describes this installation to a node that collects profiles of devices: truly, and with no more than the node needs.
///
/// A node that gets nothing asks for ever, and one that gets no identifier ends the journey.
struct DeviceProfile: Sendable {
    /// What the program says of it; nil for the least that a node takes.
    let given: JSONValue?
    let deviceName: String?
    /// Where the identifier is kept, which is that of the installation and not of a person.
    let tokens: any TokenStore
    let random: Runtime.RandomSource

    /// The profile as a node takes it.
    func text(wantsMetadata: Bool, wantsLocation: Bool) async throws -> String {
        var members = given?.members ?? []
        func adds(_ name: String) -> Bool { !members.contains { $0.key == name } }
        if adds("identifier") {
            members.append(JSONValue.Member("identifier", .string(try await identifier())))
        }
        if wantsMetadata, adds("metadata") {
            var platform: [JSONValue.Member] = [.init("platform", .string(Self.platform))]
            if let deviceName { platform.append(.init("deviceName", .string(deviceName.bounded(to: 256)))) }
            members.append(JSONValue.Member("metadata", ["platform": .object(platform)]))
        }
        // Where the machine stands it does not know.
        if wantsLocation, adds("location") { members.append(JSONValue.Member("location", [:])) }
        return JSONValue.object(members).description
    }

    #if os(Linux)
    private static let platform = "Linux"
    #else
    private static let platform = "macOS"
    #endif

    private static let key = "device_identifier"

    private func identifier() async throws -> String {
        if let known = Self.identifier(in: try await tokens.read().credentials) { return known }
        let new = Hexadecimal.encode(random.bytes(16))
        let stored = Locked(new)
        try await tokens.update { credentials in
            // Somebody else may have made one meanwhile.
            if let known = Self.identifier(in: credentials) {
                stored.withLock { $0 = known }
            } else {
                credentials.others.append(JSONValue.Member(Self.key, .string(new)))
                stored.withLock { $0 = new }
            }
        }
        return stored.withLock { $0 }
    }

    private static func identifier(in credentials: Credentials) -> String? {
        credentials.others.last { $0.key == key }?.value.string?.nonEmpty
    }
}
