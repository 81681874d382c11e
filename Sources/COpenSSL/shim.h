// Typed doors to what OpenSSL defines as macros, which Swift cannot call.
#ifndef SWIFT_HTTP_RECOVERY_COPENSSL_SHIM_H
#define SWIFT_HTTP_RECOVERY_COPENSSL_SHIM_H

#include <openssl/err.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#if OPENSSL_VERSION_NUMBER < 0x10101000L
#error "OpenSSL 1.1.1 or later is needed"
#endif

static inline int copenssl_require_tls12(SSL_CTX *context)
{
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

// A write may take a part, and may go on from a copy of the rest.
static inline void copenssl_allow_partial_writes(SSL_CTX *context)
{
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

static inline int copenssl_set_server_name(SSL *ssl, const char *name)
{
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline int copenssl_verify_host(SSL *ssl, const char *name)
{
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, name);
}

static inline int copenssl_verify_address(SSL *ssl, const char *address)
{
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), address);
}

#endif
