// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

/// One easy handle with its buffers, used for one hop after another. Touched by the loop's thread alone.
final class Transfer {
    typealias Continuation = UnsafeContinuation<Result<RawResponse, FetchError>, Never>

    let easy: UnsafeMutableRawPointer
    private(set) var id: Lanes.ID = 0
    private(set) var hop: Hop?
    private(set) var startedAt: Int64 = 0
    /// A byte of a response was seen.
    private(set) var hasAnswered = false
    private var limits = FetchLimits()
    private var headers: [UInt8] = []
    private var body: [UInt8] = []
    private var isComplete = false
    private var lengths = Set<[UInt8]>()
    private var hasTransferEncoding = false
    /// Why we ended it ourselves.
    private(set) var problem: FetchError?
    private var list: UnsafeMutablePointer<curl_slist>?
    /// What the handle is set up for; the same again needs a URL and headers only.
    private var shape: Shape?

    private struct Shape: Hashable {
        var tls: TLSPolicy
        var limits: FetchLimits
        var isFresh: Bool
    }

    init?(share: UnsafeMutableRawPointer) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.share = share
    }

    private let share: UnsafeMutableRawPointer

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(list)
    }

    // MARK: Setting up

    /// - Parameters:
    ///   - cookies: the Cookie header's value.
    ///   - isFresh: no connection may be shared with another transfer.
    func begin(_ id: Lanes.ID, _ hop: Hop, cookies: String?, isFresh: Bool, now: Int64) {
        (self.id, self.hop, startedAt) = (id, hop, now)
        (hasAnswered, hasTransferEncoding, problem) = (false, false, nil)
        headers.removeAll(keepingCapacity: true)
        body.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        limits = hop.request.limits
        let isPlain = hop.method == "GET" && hop.body == nil && hop.credentials == nil
        let shape = Shape(tls: hop.request.tls, limits: limits, isFresh: isFresh)
        if !isPlain || self.shape != shape { configure(hop, isFresh: isFresh) }
        self.shape = isPlain ? shape : nil
        cc_set_string(easy, CURLOPT_URL, hop.url.text)
        let old = list
        list = headerList(hop, cookies: cookies)
        cc_set_list(easy, CURLOPT_HTTPHEADER, list)
        curl_slist_free_all(old)
    }

    private func configure(_ hop: Hop, isFresh: Bool) {
        curl_easy_reset(easy)
        cc_set_pointer(easy, CURLOPT_SHARE, share)
        let user = Unmanaged.passUnretained(self).toOpaque()
        cc_set_pointer(easy, CURLOPT_PRIVATE, user)
        cc_set_pointer(easy, CURLOPT_WRITEDATA, user)
        cc_set_pointer(easy, CURLOPT_HEADERDATA, user)
        cc_set_write(easy, CURLOPT_WRITEFUNCTION, Transfer.onBody)
        cc_set_write(easy, CURLOPT_HEADERFUNCTION, Transfer.onHeader)
        cc_set_long(easy, CURLOPT_NOSIGNAL, 1)
        cc_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        cc_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        cc_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
        cc_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        cc_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        cc_set_long(easy, CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
        cc_set_long(easy, CURLOPT_FORBID_REUSE, isFresh ? 1 : 0)
        setDeadlines()
        setTLS(hop.request.tls)
        setMethod(hop)
        if let credentials = hop.credentials {
            cc_set_long(easy, CURLOPT_HTTPAUTH, cc_auth_basic())
            cc_set_string(easy, CURLOPT_USERNAME, credentials.user)
            cc_set_string(easy, CURLOPT_PASSWORD, credentials.password.value)
        }
    }

    private func setDeadlines() {
        cc_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(limits.connect.wholeMilliseconds))
        cc_set_long(easy, CURLOPT_TIMEOUT_MS, Int(limits.total.wholeMilliseconds))
        cc_set_long(easy, CURLOPT_LOW_SPEED_LIMIT, 64)
        cc_set_long(easy, CURLOPT_LOW_SPEED_TIME, Int(max(1, limits.lowSpeed.wholeMilliseconds / 1000)))
    }

    private func setTLS(_ tls: TLSPolicy) {
        cc_set_long(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        if let ca = tls.ca { cc_set_string(easy, CURLOPT_CAINFO, ca) }
        // A right pin does not help while the chain is verified, so the key alone is judged.
        let verifies = !tls.insecure && tls.pin == nil
        cc_set_long(easy, CURLOPT_SSL_VERIFYPEER, verifies ? 1 : 0)
        cc_set_long(easy, CURLOPT_SSL_VERIFYHOST, verifies ? 2 : 0)
        if let pin = tls.pin { cc_set_string(easy, CURLOPT_PINNEDPUBLICKEY, pin) }
    }

    private func setMethod(_ hop: Hop) {
        switch hop.method {
        case "GET" where hop.body == nil: cc_set_long(easy, CURLOPT_HTTPGET, 1)
        case "HEAD": cc_set_long(easy, CURLOPT_NOBODY, 1)
        default:
            let body = hop.body ?? []
            cc_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            var bytes = body
            bytes.withUnsafeMutableBytes { _ = cc_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
            cc_set_string(easy, CURLOPT_CUSTOMREQUEST, hop.method)
        }
    }

    private func headerList(_ hop: Hop, cookies: String?) -> UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        func add(_ name: String, _ value: String) {
            // libcurl takes `Name;` for a header without a value.
            list = curl_slist_append(list, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        var hasEncoding = false
        for header in hop.headers {
            add(header.name, header.value)
            if header.name.utf8.count == 15, header.name.lowercased() == "accept-encoding" { hasEncoding = true }
        }
        if !hasEncoding { add("Accept-Encoding", "gzip") }
        if let etag = hop.validators.etag { add("If-None-Match", etag) }
        if let date = hop.validators.lastModified { add("If-Modified-Since", date) }
        if let cookies { add("Cookie", cookies) }
        if hop.body != nil { list = curl_slist_append(list, "Expect:") }
        return list
    }

    // MARK: What arrives

    private static let onBody: cc_write_function = { bytes, size, count, user in
        guard let bytes, let user else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(user).takeUnretainedValue()
        let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return transfer.received(chunk) ? chunk.count : 0
    }

    private static let onHeader: cc_write_function = { bytes, size, count, user in
        guard let bytes, let user else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(user).takeUnretainedValue()
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return transfer.receivedHeader(line) ? line.count : 0
    }

    private func received(_ chunk: UnsafeRawBufferPointer) -> Bool {
        guard body.count + chunk.count <= limits.received else {
            problem = FetchError(.tooLarge, "the answer is longer than \(limits.received) bytes")
            return false
        }
        body.append(contentsOf: chunk)
        return true
    }

    private func receivedHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        hasAnswered = true
        // Behind a body stand trailers, which nobody asked for; before one, each status line begins the headers anew.
        guard body.isEmpty else { return true }
        if line.starts(with: "HTTP/".utf8) {
            headers.removeAll(keepingCapacity: true)
            lengths.removeAll(keepingCapacity: true)
            hasTransferEncoding = false
        }
        guard headers.count + line.count <= limits.headers else {
            problem = FetchError(.tooLarge, "the answer's headers are longer than \(limits.headers) bytes")
            return false
        }
        headers.append(contentsOf: line)
        if line.count > 15, let first = line.first, first | 0x20 == 0x63 || first | 0x20 == 0x74 { note(line) }
        return line.count > 2 || headersEnded()
    }

    private func note(_ line: UnsafeRawBufferPointer) {
        func value(of name: StaticString) -> [UInt8]? {
            name.withUTF8Buffer { name in
                guard line.count > name.count, zip(line, name).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else {
                    return nil
                }
                return line[name.count...].filter { $0 > 32 }
            }
        }
        if let length = value(of: "content-length:") {
            lengths.insert(length)
        } else if value(of: "transfer-encoding:") != nil {
            hasTransferEncoding = true
        }
    }

    /// What a proxy on the way might read otherwise than we do is refused (RFC 9112 §6.3).
    private func headersEnded() -> Bool {
        if lengths.count > 1 || (!lengths.isEmpty && hasTransferEncoding) {
            problem = FetchError(.protocol, "the answer gives its length in two ways that disagree")
            return false
        }
        guard let text = lengths.first, let length = Int(String(decoding: text, as: UTF8.self)) else { return true }
        if length > limits.received, hop?.method != "HEAD" {
            problem = FetchError(
                .tooLarge, "the answer says that it has \(length) bytes; the limit is \(limits.received)")
            return false
        }
        // A JSON reader wants 64 bytes behind the body.
        body.reserveCapacity(length + 64)
        return true
    }

    /// The server was silent for too long.
    func ranOut(_ error: FetchError) { problem = error }

    /// Takes out what came; the handle is free for another hop.
    func finish(now: Int64) -> RawResponse {
        var status = 0
        cc_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        let digest = Digest.of(body)
        let known = hop?.request.knownDigest
        let isKnown = status == 200 && known != nil && digest == known
        let response = RawResponse(
            status: status, headers: ResponseHeaders(lines: headers), body: isKnown ? [] : body, digest: digest,
            isKnown: isKnown, received: body.count, milliseconds: now - startedAt)
        // A body that goes out is not copied: its buffer goes with it.
        if !isKnown { body = [] }
        return response
    }

    /// Lets go of what the last hop held.
    func clear() { hop = nil }
}

/// One request of a fetch: the first, or what a redirect made of it.
struct Hop {
    var request: Request
    var url: WebURL
    var method: String
    var body: [UInt8]?
    var headers: [Header]
    var credentials: Credentials?
    var validators: Validators

    init(_ request: Request, _ url: WebURL) {
        (self.request, self.url) = (request, url)
        (method, body, headers) = (request.method, request.body, request.headers)
        (credentials, validators) = (request.credentials, request.validators)
    }

    /// Follows a redirect. On another origin nothing goes along that could be a credential (RFC 9110 §15.4).
    func redirected(status: Int, to target: WebURL) -> Hop {
        var next = self
        next.url = target
        if status == 303 || (method == "POST" && (status == 301 || status == 302)) {
            next.method = method == "HEAD" ? "HEAD" : "GET"
            next.body = nil
            next.headers.removeAll { $0.name.lowercased().hasPrefix("content-") }
        }
        guard target.origin != url.origin else { return next }
        next.credentials = nil
        next.validators = Validators()
        let secret = ["authorization", "cookie", "proxy-authorization"]
        next.headers.removeAll { $0.isSecret || secret.contains($0.name.lowercased()) }
        return next
    }
}

/// What one hop brought, as received.
struct RawResponse: Sendable {
    var status: Int
    var headers: ResponseHeaders
    var body: [UInt8]
    var digest: UInt64
    /// The body is the one that the request knew.
    var isKnown: Bool
    var received: Int
    var milliseconds: Int64
}
