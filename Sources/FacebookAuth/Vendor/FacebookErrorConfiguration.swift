public import HTTPRecovery

/// The vendor's table of error codes and what to do about them, as its SDKs build it in and its servers send it.
///
/// ```swift
/// let errors = FacebookErrorConfiguration.builtIn.merging(sent)
/// let category = errors.category(code: 190, subcode: 463)
/// ```
///
/// The table speaks in the vendor's three categories. Here (``FacebookClassifier/errors``) it decides about codes that are no
/// limit, refuse no token and send nobody to Facebook: a token that only waits for its person is not given up because a table
/// says so. What it calls recoverable, a sign-in by a responder is tried for.
public struct FacebookErrorConfiguration: Sendable, Hashable {
    /// What the table says about a code.
    public struct Entry: Sendable, Hashable {
        /// The category.
        public var category: FacebookErrorCategory
        /// What to tell the person before recovery; nil if nothing is to be told.
        public var recoveryMessage: String?
        /// The choices to offer them, such as `OK` and `Cancel`.
        public var recoveryOptions: [String]

        /// Creates an entry.
        public init(
            _ category: FacebookErrorCategory,
            recoveryMessage: String? = nil,
            recoveryOptions: [String] = []
        ) {
            self.category = category
            self.recoveryMessage = recoveryMessage
            self.recoveryOptions = recoveryOptions
        }
    }

    private struct Key: Hashable {
        /// Nil stands for any.
        var code: Int?
        var subcode: Int?
    }

    /// The most rows that are read of a table, and items of a row.
    private static let limits = (rows: 256, items: 1024)

    private var entries: [Key: Entry] = [:]

    /// Creates an empty table.
    public init() {}

    /// What the vendor's SDK for iOS builds in.
    public static let builtIn: FacebookErrorConfiguration = {
        var table = FacebookErrorConfiguration()
        for code in [1, 2, 4, 9, 17, 341] { table.set(Entry(.transient), code: code) }
        let recovery = Entry(
            .recoverable,
            recoveryMessage: "Please sign in to Facebook again.",
            recoveryOptions: ["OK", "Cancel"]
        )
        for code in [102, 190] { table.set(recovery, code: code) }
        return table
    }()

    /// What the vendor's SDK for Android builds in.
    public static let builtInAndroid: FacebookErrorConfiguration = {
        var table = FacebookErrorConfiguration()
        for code in [2, 4, 9, 17, 341] { table.set(Entry(.transient), code: code) }
        for code in [102, 190, 412] { table.set(Entry(.recoverable), code: code) }
        return table
    }()

    /// Reads a table as the servers send it: a list of rows, or the app's settings with one.
    ///
    /// What cannot be read of it is left out.
    ///
    /// - Parameter json: The list, or the object with `ios_sdk_error_categories` or `android_sdk_error_categories`.
    /// - Returns: Nil if there is no list.
    public init?(_ json: JSONValue) {
        let list =
            json.array ?? json["ios_sdk_error_categories"]?.array ?? json["android_sdk_error_categories"]?.array
        guard let list else { return nil }
        for row in list.prefix(Self.limits.rows) {
            guard let items = row["items"]?.array else { continue }
            let category: FacebookErrorCategory =
                switch row["name"]?.string {
                case "other": .other
                case "transient": .transient
                default: .recoverable
                }
            let entry = Entry(
                category,
                recoveryMessage: row["recovery_message"]?.string?.nonEmpty?.bounded(to: 1024),
                recoveryOptions: (row["recovery_options"]?.array ?? []).prefix(8).compactMap {
                    $0.string?.bounded(to: 128)
                }
            )
            for item in items.prefix(Self.limits.items) {
                guard let code = Self.number(item["code"]) else { continue }
                let subcodes = item["subcodes"]?.array?.prefix(Self.limits.items).compactMap(Self.number) ?? []
                if subcodes.isEmpty { set(entry, code: code) }
                for subcode in subcodes { set(entry, code: code, subcode: subcode) }
            }
        }
    }

    private static func number(_ value: JSONValue?) -> Int? {
        value?.lenientNumber.flatMap { Int(exactly: $0.double) }
    }

    /// Sets what is said about a code.
    ///
    /// - Parameters:
    ///   - entry: What is said.
    ///   - code: The code; nil stands for any.
    ///   - subcode: The finer code; nil stands for any.
    public mutating func set(_ entry: Entry, code: Int?, subcode: Int? = nil) {
        entries[Key(code: code, subcode: subcode)] = entry
    }

    /// This table with another one over it.
    public func merging(_ other: FacebookErrorConfiguration) -> FacebookErrorConfiguration {
        var merged = self
        merged.entries.merge(other.entries) { $1 }
        return merged
    }

    /// What the table says about an error: of code and finer code, else of the code, else of the finer code under any
    /// code, else of any error; nil if it says nothing.
    public func entry(code: Int?, subcode: Int?) -> Entry? {
        let steps = [
            Key(code: code, subcode: subcode), Key(code: code), Key(subcode: subcode), Key(),
        ]
        return steps.lazy.compactMap { entries[$0] }.first
    }

    /// The category of an error.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - subcode: The finer code.
    ///   - isTransient: The server's own word; if it is true it counts more than the table.
    ///   - isClientToken: Whether a client token was presented, for which there is no recovery.
    public func category(
        code: Int?,
        subcode: Int? = nil,
        isTransient: Bool = false,
        isClientToken: Bool = false
    ) -> FacebookErrorCategory {
        if isTransient { return .transient }
        let category = entry(code: code, subcode: subcode)?.category ?? .other
        return isClientToken && category == .recoverable ? .other : category
    }
}
