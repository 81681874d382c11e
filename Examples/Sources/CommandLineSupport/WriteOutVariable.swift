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
        case .timeTotal: return Self.seconds(metrics?.total ?? values.elapsed)
        case .sizeDownload: return "\(metrics?.bodyBytesReceived ?? 0)"
        case .sizeUpload: return "\(metrics?.bodyBytesSent ?? 0)"
        case .retries: return "\(values.retries)"
        case .connections: return "\(metrics?.connectionsOpened ?? 0)"
        case .httpVersion: return metrics?.httpVersion ?? "0"
        case .remoteAddress: return metrics?.remoteAddress ?? ""
        case .remotePort: return "\(metrics?.remotePort ?? 0)"
        case .localAddress: return metrics?.localAddress ?? ""
        case .localPort: return "\(metrics?.localPort ?? 0)"
        case .url, .effectiveURL: return Masking.printable(values.url, limit: 100_000)
        case .contentType: return Masking.printable(values.head?.headerFields[.contentType] ?? "", limit: 100_000)
        case .method: return values.method
        case .scheme: return values.scheme
        case .errorMessage: return Masking.printable(values.errorMessage, limit: 2000)
        case .exitCode: return "\(values.exitCode)"
        }
    }

    /// Seconds with six digits behind the point; 0 for what did not happen.
    private static func seconds(_ duration: Duration?) -> String {
        let (seconds, attoseconds) = max(duration ?? .zero, .zero).components
        let fraction = "\(attoseconds / 1_000_000_000_000)"
        return "\(seconds).\(String(repeating: "0", count: max(0, 6 - fraction.utf8.count)))\(fraction)"
    }
}
