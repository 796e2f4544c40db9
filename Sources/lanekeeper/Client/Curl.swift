internal import CCurl
import Glibc

/// Owns one libcurl multi handle and its kept connections. All calls belong to the client's thread but `wake`, which
/// libcurl allows from any. Freed with the last reference, when no transfer is left in it.
final class CurlMulti: @unchecked Sendable {  // the pointer never changes; curl_multi_wakeup is safe from any thread
    private let raw: UnsafeMutableRawPointer

    /// libcurl's own, once in a process.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(keptConnections: Int) throws(ClientError) {
        guard Self.isReady, let raw = curl_multi_init() else { throw .badRequest("libcurl cannot begin") }
        self.raw = raw
        _ = lk_curl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, keptConnections)
    }

    deinit { curl_multi_cleanup(raw) }

    func wake() { curl_multi_wakeup(raw) }

    func add(_ transfer: CurlTransfer) throws(ClientError) {
        let code = curl_multi_add_handle(raw, transfer.raw)
        guard code == CURLM_OK else { throw .badRequest(String(cString: curl_multi_strerror(code))) }
    }

    func remove(_ transfer: CurlTransfer) { curl_multi_remove_handle(raw, transfer.raw) }

    /// Does what can be done without waiting. Calls the transfers' sinks.
    /// - Returns: the transfers that have ended, with why if not well.
    func perform() -> [(transfer: CurlTransfer, fault: ClientError?)] {
        var running: Int32 = 0
        curl_multi_perform(raw, &running)
        var ended: [(CurlTransfer, ClientError?)] = []
        var code = CURLE_OK
        while let owner = lk_curl_next_ended(raw, &code) {
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(owner).takeUnretainedValue()
            ended.append((transfer, transfer.fault(code)))
        }
        return ended
    }

    /// Waits until something can be done, something is due, or `wake`; at most a minute.
    func poll() { curl_multi_poll(raw, nil, 0, 60_000, nil) }

    /// For the calling thread: writing to a connection that the peer has closed is an error code and no signal. OpenSSL
    /// writes without MSG_NOSIGNAL, and with CURLOPT_NOSIGNAL libcurl does nothing about it.
    static func keepBrokenPipesQuiet() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

/// Owns one libcurl easy handle and what it borrows: header list, error text, itself as the sinks' owner. Belongs to the
/// client's thread; alive while it is in a `CurlMulti`.
final class CurlTransfer {
    fileprivate let raw: UnsafeMutableRawPointer
    private(set) var job: ClientJob?
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var incoming = ClientIncoming()

    init() throws(ClientError) {
        guard let raw = curl_easy_init() else { throw .badRequest("libcurl has no handle") }
        self.raw = raw
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(raw)
        curl_slist_free_all(headerList)
        errorText.deallocate()
    }

    func prepare(_ job: ClientJob, _ configuration: ClientConfiguration) throws(ClientError) {
        let request = job.request
        incoming = ClientIncoming(job, configuration)
        errorText[0] = 0
        try setHeaders(request, configuration)
        guard request.path.hasPrefix("/"), request.path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw .badRequest("a path begins with a slash and is percent-encoded")
        }
        try text(CURLOPT_URL, configuration.address.description + request.path)
        try long(CURLOPT_PATH_AS_IS, 1)
        try method(request)
        try long(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        try text(CURLOPT_PROTOCOLS_STR, "http,https")
        try long(CURLOPT_FOLLOWLOCATION, 0)
        try long(CURLOPT_NOSIGNAL, 1)
        try long(CURLOPT_TCP_KEEPALIVE, 1)
        try text(CURLOPT_USERAGENT, "lanekeeper")
        if configuration.address.isLoopback { try text(CURLOPT_PROXY, "") }
        if let file = configuration.caFile {
            try text(CURLOPT_CAINFO, file)
            try text(CURLOPT_CAPATH, nil)  // else the system's directory would be trusted beside it
        }
        try long(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(configuration.connectSeconds))
        switch job.way {
        case .whole:
            try long(CURLOPT_TIMEOUT_MS, milliseconds(request.timeoutSeconds ?? configuration.timeoutSeconds))
        case .events:
            if let seconds = configuration.silentStreamSeconds {
                try long(CURLOPT_LOW_SPEED_LIMIT, 1)
                try long(CURLOPT_LOW_SPEED_TIME, max(1, seconds))
            }
        }
        try check(
            lk_curl_set_sinks(
                raw, { bytes, size, count, owner in CurlTransfer.of(owner).takeHeader(bytes, size * count) },
                { bytes, size, count, owner in CurlTransfer.of(owner).takeBody(bytes, size * count) },
                Unmanaged.passUnretained(self).toOpaque(), errorText))
        self.job = job
    }

    /// Lets go of the job and makes the handle ready for another.
    /// - Returns: how the job ended.
    func release(_ fault: ClientError?) -> ClientStreamEnd {
        let status = lk_curl_status(raw)
        curl_easy_reset(raw)  // keeps connections, forgets options
        curl_slist_free_all(headerList)
        (headerList, job) = (nil, nil)
        defer { incoming = ClientIncoming() }
        return incoming.outcome(status: status, fault: fault)
    }

    fileprivate func fault(_ code: CURLcode) -> ClientError? {
        guard code != CURLE_OK else { return nil }
        if let own = incoming.fault { return own }
        let text = String(cString: errorText[0] == 0 ? curl_easy_strerror(code) : UnsafePointer(errorText))
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT: return .unreachable(text)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER:
            return .untrusted(text)
        case CURLE_OPERATION_TIMEDOUT: return .timedOut(text)
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: return .badRequest(text)
        default: return .broken(text)
        }
    }

    private static func of(_ owner: UnsafeMutableRawPointer?) -> CurlTransfer? {
        owner.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    fileprivate func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        incoming.takeHeader(UnsafeRawBufferPointer(start: bytes, count: count))
        return count
    }

    /// - Returns: another number than `count` makes libcurl give up.
    fileprivate func takeBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        incoming.takeBody(UnsafeRawBufferPointer(start: bytes, count: count), status: lk_curl_status(raw)) ? count : 0
    }

    private func method(_ request: ClientRequest) throws(ClientError) {
        guard !request.method.isEmpty, request.method.utf8.allSatisfy({ 0x41...0x5a ~= $0 }) else {
            throw .badRequest("\(request.method) is no method")
        }
        let needsLength = request.method == "POST" || request.method == "PUT"
        if let body = request.body ?? (needsLength ? [] : nil) {
            try long(CURLOPT_POST, 1)
            let code = body.withUnsafeBytes { buffer in
                lk_curl_set_body(raw, buffer.baseAddress ?? UnsafeRawPointer(errorText), curl_off_t(buffer.count))
            }
            try check(code)
        } else if request.method == "HEAD" {
            return try long(CURLOPT_NOBODY, 1)
        } else {
            try long(CURLOPT_HTTPGET, 1)
        }
        try text(CURLOPT_CUSTOMREQUEST, request.method)
    }

    private func setHeaders(_ request: ClientRequest, _ configuration: ClientConfiguration) throws(ClientError) {
        var headers = request.headers
        if let key = configuration.key { headers.append(ClientHeader("Authorization", "Bearer \(key)")) }
        // What libcurl would add by itself, taken back: a form's media type, and a pause before large bodies.
        var lines = ["Expect:"]
        if !headers.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
        for header in headers {
            guard !header.name.isEmpty, header.name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x3a }),
                header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
            else { throw .badRequest("a header field with characters that none may have") }
            // With nothing behind the colon libcurl would leave the field out.
            lines.append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
        }
        curl_slist_free_all(headerList)
        headerList = nil
        for line in lines {
            guard let longer = curl_slist_append(headerList, line) else { throw .badRequest("out of memory") }
            headerList = longer
        }
        try check(lk_curl_set_headers(raw, headerList))
    }

    private func text(_ option: CURLoption, _ value: String?) throws(ClientError) {
        let code = value.map { value in value.withCString { lk_curl_set_text(raw, option, $0) } }
        try check(code ?? lk_curl_set_text(raw, option, nil))
    }

    private func long(_ option: CURLoption, _ value: Int) throws(ClientError) {
        try check(lk_curl_set_long(raw, option, value))
    }

    private func check(_ code: CURLcode) throws(ClientError) {
        guard code == CURLE_OK else { throw .badRequest(String(cString: curl_easy_strerror(code))) }
    }

    private func milliseconds(_ seconds: Double) -> Int { max(1, Int(min(max(0, seconds), 86_400) * 1_000)) }
}

extension CurlTransfer? {
    fileprivate func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        self?.takeHeader(bytes, count) ?? 0
    }

    fileprivate func takeBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        self?.takeBody(bytes, count) ?? 0
    }
}
