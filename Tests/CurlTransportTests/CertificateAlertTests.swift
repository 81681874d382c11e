import HTTPRecovery
import Testing

@testable import CurlTransport

/// A server's word about the client's certificate is told from a connection that was lost, by libcurl's text.
struct CertificateAlertTests {
    struct Row: Sendable {
        let code: Int
        let detail: String
        let attempts: Int
        var hasStatus = false
        let word: TransportError.Code
        let isTransient: Bool
    }

    static let rows = [
        Row(
            code: 56,
            detail: "OpenSSL SSL_read: OpenSSL/3.0.19: error:0A00045C:SSL routines::tlsv13 alert certificate required",
            attempts: 1,
            word: .tlsFailed,
            isTransient: false
        ),
        Row(
            code: 55,
            detail: "OpenSSL SSL_write: error:0A000418:SSL routines::tlsv1 alert unknown ca, errno 0",
            attempts: 1,
            word: .tlsFailed,
            isTransient: false
        ),
        Row(
            code: 35,
            detail: "error:0A000412:SSL routines::sslv3 alert bad certificate",
            attempts: 0,
            word: .tlsFailed,
            isTransient: false
        ),
        Row(
            code: 35,
            detail: "error:0A000410:SSL routines::sslv3 alert handshake failure",
            attempts: 0,
            word: .tlsFailed,
            isTransient: true
        ),
        // The certificate is the server's, or nobody's.
        Row(
            code: 60,
            detail: "SSL certificate problem: unable to get local issuer certificate",
            attempts: 0,
            word: .certificateRejected,
            isTransient: false
        ),
        Row(
            code: 56,
            detail: "Recv failure: Connection reset by peer",
            attempts: 1,
            word: .connectionLost,
            isTransient: true
        ),
        Row(
            code: 6,
            detail: "Could not resolve host: an alert certificate",
            attempts: 0,
            word: .cannotResolve,
            isTransient: true
        ),
        Row(
            code: 56,
            detail: "SSL routines::tlsv13 alert certificate required",
            attempts: 1,
            hasStatus: true,
            word: .connectionLost,
            isTransient: true
        ),
        Row(code: 56, detail: " alert ", attempts: 1, word: .connectionLost, isTransient: true),
        Row(code: 56, detail: "", attempts: 1, word: .connectionLost, isTransient: true),
    ]

    @Test(arguments: rows)
    func theAlertIsRead(row: Row) throws {
        var facts = TransferFacts(code: row.code)
        facts.detail = row.detail
        facts.wireAttempts = row.attempts
        facts.sawStatus = row.hasStatus
        let error = try #require(Verdict.error(for: facts))
        #expect(error.code == row.word, "\(row.detail)")
        #expect(error.isTransient == row.isTransient, "\(row.detail)")
        // What was sent may have been read all the same.
        #expect(error.certainty == (row.hasStatus ? .answered : row.attempts > 0 ? .unknown : .neverSent))
    }
}
