import AuthRecovery
import HTTPRecovery

/// The way of a file that goes out in one request: begun, sent from where the server has it, and after an interruption asked
/// where that is.
struct FacebookFilePlan: RecoveryOperation.Plan {
    enum Step: Sendable {
        case begin
        case send(to: String, from: Int64)
        case ask(String)
    }

    struct Answer: Sendable {
        var json: JSONValue
        var response: RecoveredResponse
    }

    /// How many interruptions in a row, without a byte that the server did not have before, end it.
    private static let maximumFailures = 5

    private enum Phase {
        case beginning
        case sending(String)
        case asking(String)
    }

    let size: Int64
    private let protocols: FacebookFileProtocol
    private var phase: Phase
    private var offset: Int64 = 0
    private var failures = 0
    private var repetition: Outcome.Kind?

    init(size: Int64, _ protocols: FacebookFileProtocol) {
        (self.size, self.protocols) = (size, protocols)
        phase = protocols.address.map { .sending($0) } ?? .beginning
    }

    typealias Action = RecoveryOperation.Action<Step, FacebookUpload.Receipt>

    mutating func next(
        after event: RecoveryOperation.Event<Answer>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> Action {
        switch event {
        case .begun, .paused: return perform()
        case .notPaused(let error): return .fail(error)
        case .answered(let answer): return goOn(after: answer)
        case .failed(let error):
            guard case .sending(let address) = phase, error.outcome.processed != .no, error.isOfNoAnswer else {
                return .fail(error)
            }
            failures += 1
            guard failures < Self.maximumFailures else {
                var end = error
                end.reason = .attemptsExhausted
                return .fail(end)
            }
            (phase, repetition) = (.asking(address), error.kind)
            let backoff = Backoff.exponential(base: .seconds(1), jitter: .equal)
            return .pause(backoff.delay(retry: failures - 1, random: random()), reason: error.kind)
        }
    }

    private mutating func perform() -> Action {
        switch phase {
        case .beginning: return .perform(.begin)
        case .asking(let address): return .perform(.ask(address))
        case .sending(let address):
            defer { repetition = nil }
            return .perform(.send(to: address, from: offset), repeating: repetition)
        }
    }

    private mutating func goOn(after answer: Answer) -> Action {
        switch phase {
        case .beginning:
            guard let address = protocols.address(in: answer.json) else {
                return .fail(RecoveryError(.unreadable, in: answer.response))
            }
            phase = .sending(address)
        case .asking(let address):
            guard let known = protocols.offset(in: answer.json), (0...size).contains(known) else {
                return .fail(RecoveryError(.unreadable, in: answer.response))
            }
            if known > offset { failures = 0 }
            (offset, phase) = (known, .sending(address))
        case .sending:
            guard let receipt = protocols.receipt(answer.json) else {
                return .fail(RecoveryError(.unreadable, in: answer.response))
            }
            return .finish(receipt)
        }
        return perform()
    }
}

/// What tells the ways apart in which Facebook takes files.
enum FacebookFileProtocol: Sendable {
    /// The app's own uploads, which bring a handle.
    case app
    /// An upload whose address an answer has named, of an object that knows how much of it has come.
    case named(url: String, object: String)

    /// Where the bytes go to, if that is known beforehand.
    var address: String? { if case .named(let url, _) = self { url } else { nil } }

    /// Where the bytes go to, as the answer to the beginning says; nil if it does not.
    func address(in json: JSONValue) -> String? {
        guard let id = json["id"]?.string, id.hasPrefix("upload:"), id.utf8.count <= 4096,
            id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "#") })
        else { return nil }
        return id
    }

    /// How much the server has.
    func offset(in json: JSONValue) -> Int64? {
        switch self {
        case .app: return json["file_offset"]?.lenientNumber?.saturatedInt
        case .named:
            let phase = json["status"]?["uploading_phase"]
            // Facebook writes the name in either way.
            return (phase?["bytes_transferred"] ?? phase?["bytes_transfered"])?.lenientNumber?.saturatedInt
        }
    }

    /// What a finished upload has come to; nil if the answer does not say that it is one.
    func receipt(_ json: JSONValue) -> FacebookUpload.Receipt? {
        switch self {
        case .app:
            json["h"]?.string?.nonEmpty.map { FacebookUpload.Receipt(id: $0.bounded(to: 65_536), answer: json) }
        case .named(_, let object):
            json["success"]?.looseBool == true ? FacebookUpload.Receipt(id: object, answer: json) : nil
        }
    }
}
