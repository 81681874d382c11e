#if Redis
import COpenSSL
import HTTPRecovery

/// TLS on one socket, which stays the wire's.
///
/// It is confined to the connection's thread.
@safe
final class TLSSession {
    private let ssl: OpaquePointer

    /// Takes the session over.
    init(_ ssl: OpaquePointer) {
        unsafe self.ssl = ssl
    }

    deinit {
        unsafe SSL_free(ssl)
    }

    func handshake() -> Wire.Progress {
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(ssl)
        if result == 1 { return .done(0) }
        return progress(after: result)
    }

    func read(into buffer: inout [UInt8]) -> Wire.Progress {
        ERR_clear_error()
        let count = unsafe SSL_read(ssl, &buffer, Int32(clamping: buffer.count))
        if count > 0 { return .done(Int(count)) }
        return progress(after: count)
    }

    func write(_ bytes: ArraySlice<UInt8>) -> Wire.Progress {
        if bytes.isEmpty { return .done(0) }
        ERR_clear_error()
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe SSL_write(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
        }
        if count > 0 { return .done(Int(count)) }
        return progress(after: count)
    }

    /// Tells the other side, without waiting for its answer.
    func end() {
        ERR_clear_error()
        if unsafe SSL_is_init_finished(ssl) == 1 { _ = unsafe SSL_shutdown(ssl) }
        ERR_clear_error()
    }

    private func progress(after result: Int32) -> Wire.Progress {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN, SSL_ERROR_SYSCALL: return .closed
        default: return .failed(failure)
        }
    }

    private var failure: SharedState.StoreError {
        let verdict = unsafe SSL_get_verify_result(ssl)
        guard verdict == Int(X509_V_OK) else {
            let reason = unsafe X509_verify_cert_error_string(verdict).map { unsafe String(cString: $0) } ?? "unknown"
            return SharedState.StoreError(
                "the Redis server's certificate is not accepted (\(reason)); name the CA that signed it"
            )
        }
        let reason = unsafe ERR_reason_error_string(ERR_peek_last_error()).map { unsafe String(cString: $0) }
        return SharedState.StoreError(
            "TLS with the Redis server fails (\(reason ?? "unknown")); check that its port speaks TLS"
        )
    }
}
#endif
