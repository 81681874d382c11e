import Foundation
import HTTPRecovery
public import Logging

/// Logs each line as a JSON object: `time`, `level`, `label`, `message`, and the metadata beside them.
public struct JSONLogHandler: LogHandler {
    /// What is logged at least.
    public var logLevel = Logger.Level.info
    /// What stands in each line.
    public var metadata: Logger.Metadata = [:]
    /// What each line is asked for, such as the ids of a trace.
    public var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let output: @Sendable (String) -> Void

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - label: The logger's label.
    ///   - output: Takes each line, without its end. Default: the standard output.
    public init(label: String, output: @escaping @Sendable (String) -> Void = Self.print) {
        self.label = label
        self.output = output
    }

    /// One value of ``metadata``.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Logs a line.
    public func log(event: LogEvent) {
        var all = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }
        all.merge(event.metadata ?? [:]) { $1 }
        if let error = event.error { all["error"] = "\(error)" }
        let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        var members: [JSONValue.Member] = [
            .init("time", .string(time)), .init("level", .string(event.level.rawValue)),
            .init("label", .string(label)), .init("message", .string(event.message.description)),
        ]
        // What a line is known by keeps its meaning.
        let taken = Set(members.map(\.key))
        for (key, value) in all.sorted(by: { $0.key < $1.key }) {
            members.append(.init(taken.contains(key) ? "metadata.\(key)" : key, Self.json(value)))
        }
        output(JSONValue.object(members).description)
    }

    private static func json(_ value: Logger.MetadataValue) -> JSONValue {
        switch value {
        case .string(let text): .string(text)
        case .stringConvertible(let other): .string(other.description)
        case .array(let elements): .array(elements.map(json))
        case .dictionary(let members):
            .object(members.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, json($0.value)) })
        }
    }

    /// Writes a line to the standard output, at once.
    public static func print(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
