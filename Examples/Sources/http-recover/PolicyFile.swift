import CommandLineSupport
import HTTPRecovery

/// A policy that a person has written down.
struct PolicyFile: Sendable {
    /// Why a file holds no policy.
    struct Invalid: Error, CustomStringConvertible {
        let description: String

        init(_ path: String, _ problem: String) {
            let text: ScreenText = "--policy \(path, limit: 500): \(problem, limit: 1000)"
            self.description = text.description
        }
    }

    /// The policy as it stands in the file.
    let json: JSONValue
    /// What it says.
    let settings: RecoveringClient.Settings

    /// Reads a file; `-` is standard input.
    init(contentsOf path: String) throws {
        let bytes = try RequestInput.bytes(ofFile: path, limit: 1 << 20)
        let json: JSONValue
        do {
            json = try JSONValue(parsing: bytes)
        } catch {
            throw Invalid(path, bytes.isEmpty ? "the file is no JSON: it is empty" : "the file is no JSON: \(error)")
        }
        if let key = json.repeatedKey { throw Invalid(path, "the key \"\(key)\" stands there twice") }
        do {
            try self.init(json)
        } catch {
            throw Invalid(path, error.description)
        }
    }

    init(_ json: JSONValue) throws(RecoveringClient.Settings.Invalid) {
        self.json = json
        self.settings = try RecoveringClient.Settings(json: json, base: .ofProgram)
    }
}
