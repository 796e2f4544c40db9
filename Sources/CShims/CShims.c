#define _GNU_SOURCE
#include "CShims.h"

#include <openssl/evp.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int lk_accept4(int listener) { return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }

void lk_name_this_thread(const char *name) {
    char kept[16] = {0};
    strncpy(kept, name, sizeof kept - 1);
    pthread_setname_np(pthread_self(), kept);
}

int lk_ssl_ctx_require_tls12(SSL_CTX *context) { return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION); }

void lk_ssl_ctx_allow_partial_writes(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

void lk_ssl_ctx_release_idle_buffers(SSL_CTX *context) { SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS); }

void lk_ssl_ctx_set_options(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
}

void lk_ssl_ctx_read_ahead(SSL_CTX *context) { SSL_CTX_set_read_ahead(context, 1); }

int lk_ssl_ctx_add0_chain_cert(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add0_chain_cert(context, certificate);
}

int lk_ssl_set_server_name(SSL *ssl, const char *name) { return (int)SSL_set_tlsext_host_name(ssl, name); }

EVP_PKEY *lk_generate_p256(void) { return EVP_EC_gen("P-256"); }

// --- Signals ---

#include <signal.h>

static volatile sig_atomic_t stop_was_asked = 0;

static void on_stop(int number) {
    (void)number;
    stop_was_asked = 1;
}

void lk_catch_stop_signals(void) {
    struct sigaction action = {0};
    action.sa_handler = on_stop;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, 0);
    sigaction(SIGTERM, &action, 0);
    sigaction(SIGHUP, &action, 0);
}

int lk_stop_was_asked(void) { return stop_was_asked; }

static int signal_pipe[2] = {-1, -1};
static volatile sig_atomic_t stops_seen = 0;

static void on_daemon_signal(int number) {
    int saved = errno;
    if (number != SIGHUP && stops_seen++) {
        struct sigaction action = {0};
        action.sa_handler = SIG_DFL;
        sigemptyset(&action.sa_mask);
        sigaction(number, &action, 0);
        raise(number);  // held back until this handler returns, and then the end
    } else {
        unsigned char byte = (unsigned char)number;
        ssize_t written = write(signal_pipe[1], &byte, 1);  // a full pipe: as many as that wait to be looked at
        (void)written;
    }
    errno = saved;
}

int lk_watch_signals(void) {
    if (signal_pipe[0] >= 0) return signal_pipe[0];
    if (pipe2(signal_pipe, O_CLOEXEC) != 0) return -1;
    // Only the writing end: the reader waits, the handler never does.
    if (fcntl(signal_pipe[1], F_SETFL, O_NONBLOCK) != 0) return -1;
    struct sigaction action = {0};
    action.sa_handler = on_daemon_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, &action, 0) || sigaction(SIGTERM, &action, 0) || sigaction(SIGHUP, &action, 0)) return -1;
    return signal_pipe[0];
}
