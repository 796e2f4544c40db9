#ifndef LANEKEEPER_CCURL_H
#define LANEKEEPER_CCURL_H
// libcurl, and typed forms of those of its functions that Swift cannot import because they are variadic:
// curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt. Each takes only options of its own type.
#include <curl/curl.h>

// For options of type `long` (CURLOPTTYPE_LONG, CURLOPTTYPE_VALUES).
static inline CURLcode lk_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

// For options of type `char *` (CURLOPTTYPE_STRINGPOINT). libcurl copies the text; NULL takes the option back.
static inline CURLcode lk_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

// The request's body: copied by libcurl.
static inline CURLcode lk_curl_set_body(CURL *easy, const void *bytes, curl_off_t count) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, count);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes) : code;
}

// The list is borrowed until the transfer has ended.
static inline CURLcode lk_curl_set_headers(CURL *easy, struct curl_slist *headers) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
}

typedef size_t (*lk_curl_sink)(char *bytes, size_t size, size_t count, void *owner);

// Where header lines and body bytes go; `owner` is borrowed until the transfer has ended. The error buffer holds
// CURL_ERROR_SIZE bytes and is borrowed too.
static inline CURLcode lk_curl_set_sinks(CURL *easy, lk_curl_sink header, lk_curl_sink body, void *owner, char *error) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, owner);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, owner);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_PRIVATE, owner);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error);
    return code;
}

// The status of the last answer; 0 without one.
static inline long lk_curl_status(CURL *easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

// For options of type `long`.
static inline CURLMcode lk_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// The owner (of lk_curl_set_sinks) of the next transfer that has ended, with how; NULL when there is none. The union
// inside CURLMsg stays here.
static inline void *lk_curl_next_ended(CURLM *multi, CURLcode *result) {
    int left = 0;
    struct CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        char *owner = NULL;
        *result = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
        return owner;
    }
    return NULL;
}

#endif
