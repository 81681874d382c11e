import HTTPRecovery
import HTTPTypes
import Testing

@testable import CommandLineSupport

/// What `-w` writes: a table of formats.
@Suite("--write-out")
struct WriteOutTests {
    private static let values: WriteOutValues = {
        var values = WriteOutValues(url: "https://a.example/x?y=1", method: "POST", scheme: "https")
        values.head = HTTPResponse(status: 204, headerFields: [.contentType: "text/\u{1B}[31mplain", .server: "s"])
        var metrics = History.AttemptMetrics()
        metrics.nameLookup = .microseconds(1)
        metrics.connect = .microseconds(1_500)
        metrics.tlsHandshake = .milliseconds(20)
        metrics.requestStart = .microseconds(20_001)
        metrics.firstByte = .milliseconds(999)
        metrics.total = .microseconds(61_000_007)
        metrics.bodyBytesReceived = 1234
        metrics.bodyBytesSent = 5
        metrics.connectionsOpened = 1
        metrics.httpVersion = "1.1"
        metrics.localAddress = "127.0.0.1"
        metrics.localPort = 40_000
        metrics.remoteAddress = "::1"
        metrics.remotePort = 443
        values.metrics = metrics
        values.retries = 2
        values.exitCode = 22
        values.errorMessage = "it\nfailed"
        return values
    }()

    /// What goes to standard output, and to standard error.
    private static func written(_ format: String, _ values: WriteOutValues = values) -> [String] {
        let parts = WriteOutFormat(format).parts(values)
        return [WriteOutFormat.Destination.output, .errors].map { destination in
            parts.filter { $0.destination == destination }.map(\.text.description).joined()
        }
    }

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("%{http_code}", "204"), ("%{response_code}", "204"),
        ("%{time_namelookup}", "0.000001"), ("%{time_connect}", "0.001500"), ("%{time_appconnect}", "0.020000"),
        ("%{time_pretransfer}", "0.020001"), ("%{time_starttransfer}", "0.999000"), ("%{time_total}", "61.000007"),
        ("%{size_download}", "1234"), ("%{size_upload}", "5"), ("%{num_retries}", "2"), ("%{num_connects}", "1"),
        ("%{http_version}", "1.1"), ("%{remote_ip}", "::1"), ("%{remote_port}", "443"),
        ("%{local_ip}", "127.0.0.1"), ("%{local_port}", "40000"), ("%{url_effective}", "https://a.example/x?y=1"),
        ("%{url}", "https://a.example/x?y=1"), ("%{content_type}", "text/ [31mplain"), ("%{method}", "POST"),
        ("%{scheme}", "https"), ("%{errormsg}", "it failed"), ("%{exitcode}", "22"), ("%header{server}", "s"),
        ("%header{SERVER}-%header{x-none}", "s-"), ("%%", "%"), ("%%{http_code}", "%{http_code}"),
        ("a%{http_code}b%{method}c", "a204bPOSTc"), (#"a\nb\rc\td\\e\"#, "a\nb\rc\td\\\\e\\"), (#"\q"#, "\\q"),
        ("100%", "100%"), ("%d", "%d"), ("%{", "%{"), ("%{http_code", "%{http_code"), ("ü%{method}ü", "üPOSTü"),
        ("%header{", "%header{"), ("%header{bad name}x", "x"),
    ])
    func aFormatIsFilledIn(format: String, text: String) {
        #expect(Self.written(format) == [text, ""])
    }

    @Test(arguments: [
        ("a%{stderr}b%{stdout}c", "ac", "b"), ("%{stderr}%{http_code}", "", "204"),
        ("x%{nonsense}y", "xy", "http-recover: unknown --write-out variable: 'nonsense'\n"),
        (
            "%{http_connect}", "",
            "http-recover: the --write-out variable 'http_connect' is curl's and is not offered here\n"
        ),
        ("%{}", "", "http-recover: unknown --write-out variable: ''\n"),
        ("%{a\u{1B}[2J}", "", "http-recover: unknown --write-out variable: 'a [2J'\n"),
        ("%{code}", "", "http-recover: unknown --write-out variable: 'code'\n"),
    ])
    func partsGoToStandardError(format: String, output: String, errors: String) {
        #expect(Self.written(format) == [output, errors])
    }

    @Test func everyVariableHasAValueWithoutAnAnswer() {
        let nothing = WriteOutValues(url: "u", method: "GET", scheme: "http")
        let expected: [WriteOutVariable: String] = [
            .httpCode: "000", .responseCode: "000", .httpVersion: "0", .remoteAddress: "", .localAddress: "",
            .url: "u", .effectiveURL: "u", .contentType: "", .method: "GET", .scheme: "http", .errorMessage: "",
            .redirectURL: "", .referer: "", .fileName: "", .headerJSON: "{\n}",
        ]
        for variable in WriteOutVariable.allCases where variable != .json {
            let isTime = variable.rawValue.hasPrefix("time_")
            let text = expected[variable] ?? (isTime ? "0.000000" : "0")
            #expect(Self.written("%{\(variable.rawValue)}", nothing) == [text, ""], "\(variable)")
        }
    }

    @Test func theTimeOfAFailedAttemptIsItsLength() {
        var values = WriteOutValues(url: "u", method: "GET", scheme: "http")
        values.elapsed = .milliseconds(1250)
        #expect(Self.written("%{time_total}", values) == ["1.250000", ""])
    }

    @Test func hugeAndNegativeTimesAreTold() {
        var values = Self.values
        for (time, text) in [(Duration.seconds(-1), "0.000000"), (.seconds(Int64.max), "9223372036854775807.000000")] {
            values.metrics?.total = time
            #expect(Self.written("%{time_total}", values) == [text, ""])
        }
    }

    @Test func phasesAreToldLineByLine() {
        let lines = Timings(result: "HTTP 204", elapsed: .zero, metrics: Self.values.metrics).lines(number: 3)
        #expect(
            lines.map(\.description) == [
                "attempt 3: HTTP 204, HTTP/1.1, new connection to [::1]:443 from 127.0.0.1:40000",
                "  name lookup        0.001 ms",
                "  connection         1.500 ms",
                "  TLS handshake     20.000 ms",
                "  request           20.001 ms",
                "  first byte       999.000 ms",
                "  end            61000.007 ms",
            ]
        )
        let failed = Timings(result: "connection_lost", elapsed: .microseconds(12_345), metrics: nil).lines(number: 1)
        #expect(failed.map(\.description) == ["attempt 1: connection_lost after 12.345 ms"])
    }
}
