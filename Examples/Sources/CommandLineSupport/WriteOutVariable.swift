import HTTPRecovery
import HTTPTypes

/// The variables of ``WriteOutFormat``, by curl's names and with curl's form of their values.
enum WriteOutVariable: String, CaseIterable {
    case httpCode = "http_code"
    case responseCode = "response_code"
    case timeNameLookup = "time_namelookup"
    case timeConnect = "time_connect"
    case timeAppConnect = "time_appconnect"
    case timePreTransfer = "time_pretransfer"
    case timeStartTransfer = "time_starttransfer"
    case timeTotal = "time_total"
    case sizeDownload = "size_download"
    case sizeUpload = "size_upload"
    case retries = "num_retries"
    case connections = "num_connects"
    case httpVersion = "http_version"
    case remoteAddress = "remote_ip"
    case remotePort = "remote_port"
    case localAddress = "local_ip"
    case localPort = "local_port"
    case url = "url"
    case effectiveURL = "url_effective"
    case contentType = "content_type"
    case method
    case scheme
    case errorMessage = "errormsg"
    case exitCode = "exitcode"
    case timeRedirect = "time_redirect"
    case sizeHeader = "size_header"
    case speedDownload = "speed_download"
    case speedUpload = "speed_upload"
    case redirects = "num_redirects"
    case headers = "num_headers"
    case redirectURL = "redirect_url"
    case referer
    case fileName = "filename_effective"
    case number = "urlnum"
    case headerJSON = "header_json"
    case json

    /// Those of curl's that there is nothing to say about here.
    static let ofCurlAlone: Set = [
        "certs", "conn_id", "ftp_entry_path", "http_connect", "num_certs", "output{}", "proxy_ssl_verify_result",
        "proxy_used", "size_request", "ssl_verify_result", "time_posttransfer", "time_queue",
        "tls_earlydata", "xfer_id",
    ]

    /// Whether its value is a number in `%{json}`.
    private var isNumber: Bool {
        switch self {
        case .httpCode, .responseCode, .timeNameLookup, .timeConnect, .timeAppConnect, .timePreTransfer,
            .timeStartTransfer, .timeTotal, .timeRedirect, .sizeDownload, .sizeUpload, .sizeHeader, .speedDownload,
            .speedUpload, .retries, .connections, .redirects, .headers, .remotePort, .localPort, .exitCode, .number:
            true
        default: false
        }
    }

    /// Whether it tells when a connection was made, or all that is known.
    var isTimeOfConnecting: Bool {
        switch self {
        case .timeNameLookup, .timeConnect, .timeAppConnect, .json: true
        default: false
        }
    }

    /// All of them as one object, in the order of their names; what there is nothing of is null.
    private static func object(_ values: WriteOutValues) -> String {
        let variables = allCases.filter { $0 != .json && $0 != .headerJSON }.sorted { $0.rawValue < $1.rawValue }
        let members = variables.map { variable in
            var text = variable.text(values)
            if variable == .httpCode || variable == .responseCode { text = "\(values.head?.status.code ?? 0)" }
            let value = variable.isNumber ? text : text.isEmpty ? "null" : ScreenText(json: .string(text)).description
            return "\"\(variable.rawValue)\":\(value)"
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// The fields of the answer, each with its values, as curl writes them.
    private static func fields(_ head: HTTPResponse?) -> String {
        var order: [String] = []
        var lists: [String: [JSONValue]] = [:]
        for field in head?.headerFields ?? [:] {
            let name = field.name.canonicalName
            if lists[name] == nil { order.append(name) }
            lists[name, default: []].append(.string(field.value))
        }
        let members = order.map { name in
            "\(ScreenText(json: .string(name))):\(ScreenText(json: .array(lists[name] ?? [])))"
        }
        return "{\(members.joined(separator: ",\n"))\n}"
    }

    /// How long it took from the first redirect on.
    private static func total(_ values: WriteOutValues) -> Duration? {
        (values.metrics?.total ?? values.elapsed).map { $0 + values.redirected }
    }

    private static func speed(_ bytes: Int?, _ values: WriteOutValues) -> String {
        let seconds = total(values)?.inSeconds ?? 0
        guard seconds > 0, let bytes else { return "0" }
        return "\(Int64(min(Double(bytes) / seconds, 9e18)))"
    }

    func text(_ values: WriteOutValues) -> String {
        let metrics = values.metrics
        switch self {
        case .httpCode, .responseCode:
            let code = "\(values.head?.status.code ?? 0)"
            return String(repeating: "0", count: max(0, 3 - code.utf8.count)) + code
        case .timeNameLookup: return Self.seconds(metrics?.nameLookup)
        case .timeConnect: return Self.seconds(metrics?.connect)
        case .timeAppConnect: return Self.seconds(metrics?.tlsHandshake)
        case .timePreTransfer: return Self.seconds(metrics?.requestStart)
        case .timeStartTransfer: return Self.seconds(metrics?.firstByte)
        case .timeTotal: return Self.seconds(Self.total(values))
        case .sizeDownload: return "\(metrics?.bodyBytesReceived ?? 0)"
        case .sizeUpload: return "\(metrics?.bodyBytesSent ?? 0)"
        case .retries: return "\(values.retries)"
        case .connections: return "\(metrics?.connectionsOpened ?? 0)"
        case .httpVersion: return metrics?.httpVersion ?? "0"
        case .remoteAddress: return metrics?.remoteAddress ?? ""
        case .remotePort: return "\(metrics?.remotePort ?? 0)"
        case .localAddress: return metrics?.localAddress ?? ""
        case .localPort: return "\(metrics?.localPort ?? 0)"
        case .url: return Masking.printable(values.asked ?? values.url, limit: 100_000)
        case .effectiveURL: return Masking.printable(values.url, limit: 100_000)
        case .contentType: return Masking.printable(values.head?.headerFields[.contentType] ?? "", limit: 100_000)
        case .method: return values.method
        case .scheme: return values.scheme
        case .errorMessage: return Masking.printable(values.errorMessage, limit: 2000)
        case .exitCode: return "\(values.exitCode)"
        case .timeRedirect: return Self.seconds(values.redirected)
        case .sizeHeader: return "\(values.headBytes)"
        case .speedDownload: return Self.speed(metrics?.bodyBytesReceived, values)
        case .speedUpload: return Self.speed(metrics?.bodyBytesSent, values)
        case .redirects: return "\(values.redirects)"
        case .headers: return "\(values.head?.headerFields.count ?? 0)"
        case .redirectURL: return Masking.printable(values.redirectURL, limit: 100_000)
        case .referer: return Masking.printable(values.referer, limit: 100_000)
        case .fileName: return Masking.printable(values.fileName, limit: 10_000)
        case .number: return "\(values.number)"
        case .headerJSON: return Self.fields(values.head)
        case .json: return Self.object(values)
        }
    }

    /// Seconds with six digits behind the point; 0 for what did not happen.
    private static func seconds(_ duration: Duration?) -> String {
        let (seconds, attoseconds) = max(duration ?? .zero, .zero).components
        let fraction = "\(attoseconds / 1_000_000_000_000)"
        return "\(seconds).\(String(repeating: "0", count: max(0, 6 - fraction.utf8.count)))\(fraction)"
    }
}
