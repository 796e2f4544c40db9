#ifndef LANEKEEPER_CSHIMS_H
#define LANEKEEPER_CSHIMS_H
// What Swift cannot import: variadic functions, function-like macros, GNU-only calls. Each with its reason.

#include <openssl/ssl.h>
#include <stdint.h>
// Swift's Glibc module leaves these two headers out; included here, their functions and types are importable as they
// are.
#include <sys/epoll.h>
#include <sys/eventfd.h>

// accept4 stands behind _GNU_SOURCE. Always non-blocking and close-on-exec; the peer's address is not asked for.
int lk_accept4(int listener);

// pthread_setname_np stands behind _GNU_SOURCE. Names the calling thread; at most 15 bytes are kept.
void lk_name_this_thread(const char *name);

// SSL_CTX_set_min_proto_version is a macro over SSL_CTX_ctrl. 1 on success.
int lk_ssl_ctx_require_tls12(SSL_CTX *context);

// SSL_CTX_set_mode is a macro: a write may be partial, and its buffer may have moved when it is repeated.
void lk_ssl_ctx_allow_partial_writes(SSL_CTX *context);

// SSL_CTX_set_mode is a macro: an idle connection gives its record buffers (34 KB) back.
void lk_ssl_ctx_release_idle_buffers(SSL_CTX *context);

// The SSL_OP_... constants are made by a function-like macro (SSL_OP_BIT). Sets: no compression, no renegotiation, and
// a missing close_notify reads as an end of stream (HTTP/2 and HTTP/1.1 with lengths frame their own messages).
void lk_ssl_ctx_set_options(SSL_CTX *context);

// SSL_CTX_set_read_ahead is a macro over SSL_CTX_ctrl.
void lk_ssl_ctx_read_ahead(SSL_CTX *context);

// SSL_CTX_add0_chain_cert is a macro. Takes ownership of the certificate on success (1).
int lk_ssl_ctx_add0_chain_cert(SSL_CTX *context, X509 *certificate);

// SSL_set_tlsext_host_name is a macro. 1 on success.
int lk_ssl_set_server_name(SSL *ssl, const char *name);

// EVP_EC_gen is a macro over a variadic function. A fresh P-256 key, to be freed by the caller; NULL on failure.
EVP_PKEY *lk_generate_p256(void);

// A signal handler may do next to nothing, and what it sets must be a volatile sig_atomic_t. SIGINT, SIGTERM and SIGHUP
// are noted once; the next one of the kind ends the process as usual.
void lk_catch_stop_signals(void);
int lk_stop_was_asked(void);

// For a daemon: SIGINT, SIGTERM and SIGHUP each write their number, one byte, into a pipe, whose reading end is returned
// (-1 and errno on failure; the same one again on a second call). The second SIGINT or SIGTERM ends the process as if
// nobody had caught it. The handler uses write, sigaction and raise, which signal-safety(7) allows.
int lk_watch_signals(void);

#endif
