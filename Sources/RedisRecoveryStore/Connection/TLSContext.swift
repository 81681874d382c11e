#if Redis
import COpenSSL
import HTTPRecovery

/// What all TLS sessions of a store have in common: whom to trust, and who the other side has to be.
///
/// It is confined to the connection's thread.
@safe
final class TLSContext {
    /// OpenSSL's own state, made before a connection needs it.
    static let globalState: Int32 = {
        defer { ProcessEnd.comesBeforeThatOfLibraries() }
        return OPENSSL_init_ssl(0, nil)
    }()

    private let context: OpaquePointer
    private let serverName: String
    private let isAddress: Bool

    init(_ settings: RedisStore.TLS, host: String) throws(SharedState.StoreError) {
        serverName = settings.serverName ?? host
        isAddress = Address.isNumeric(serverName)
        guard Self.globalState == 1, let context = unsafe SSL_CTX_new(TLS_client_method()) else {
            throw SharedState.StoreError("TLS cannot be set up: out of memory")
        }
        unsafe self.context = context
        _ = unsafe copenssl_require_tls12(context)
        unsafe copenssl_allow_partial_writes(context)
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        if let file = settings.caFile {
            guard unsafe SSL_CTX_load_verify_locations(context, file, nil) == 1 else {
                throw SharedState.StoreError(
                    "the file of trusted certificates cannot be read; check that it exists and is PEM"
                )
            }
        } else {
            guard unsafe SSL_CTX_set_default_verify_paths(context) == 1 else {
                throw SharedState.StoreError(
                    "the system's trusted certificates cannot be read; name a file of your own"
                )
            }
        }
        if let own = settings.clientCertificate {
            guard unsafe SSL_CTX_use_certificate_chain_file(context, own.chainFile) == 1,
                unsafe SSL_CTX_use_PrivateKey_file(context, own.keyFile, SSL_FILETYPE_PEM) == 1,
                unsafe SSL_CTX_check_private_key(context) == 1
            else { throw SharedState.StoreError("the client's certificate or key cannot be read; check both files") }
        }
    }

    deinit {
        unsafe SSL_CTX_free(context)
    }

    func session(on socket: Int32) throws(SharedState.StoreError) -> TLSSession {
        guard let ssl = unsafe SSL_new(context) else {
            throw SharedState.StoreError("TLS cannot be set up: out of memory")
        }
        let session = unsafe TLSSession(ssl)
        let isSet =
            if isAddress {
                unsafe copenssl_verify_address(ssl, serverName) == 1
            } else {
                unsafe copenssl_verify_host(ssl, serverName) == 1 && copenssl_set_server_name(ssl, serverName) == 1
            }
        guard isSet, unsafe SSL_set_fd(ssl, socket) == 1 else {
            throw SharedState.StoreError("TLS cannot be set up for the server's name; check it")
        }
        unsafe SSL_set_connect_state(ssl)
        return session
    }
}
#endif
