// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import VedetteCore
import VedetteSystem

/// One easy handle with its buffers, used for one hop after another, by the loop's thread alone.
final class Transfer {
    let easy: UnsafeMutableRawPointer
    private(set) var id: RequestQueue.ID = 0
    private(set) var hop: RedirectHop?
    private(set) var startedAt: Int64 = 0
    /// Why we ended the transfer ourselves.
    private(set) var problem: FetchError?
    /// Of the server that the handle was used for last. It always has one: libcurl drops a handle's own sessions when it gets
    /// one.
    private(set) var cache: ServerCache
    /// What it has between two transfers, so that it keeps no server's cache alive.
    private let common: ServerCache
    private let authorities: TrustedCertificateCache
    /// What the handle verifies certificates by.
    private var trusted: TrustedCertificates?
    let message = CurlMessage()
    private var limits = FetchLimits()
    /// Whether a response has no body, and whether its headers suffice: each header line asks.
    private var (isHead, isReply) = (false, false)
    private var head = ResponseHead()
    private var body: ResponseBody
    /// What the handle has.
    private var settings: TransferSettings?
    /// Whether it has neither a method nor a body. Then a hop with the same options sets only the URL and headers.
    private var isPlain = false
    private let isPrivate: @Sendable (IPAddress) -> Bool
    private let budget: MemoryBudget
    private(set) var connection = ConnectionUse.own
    /// How often the request was sent: libcurl repeats it on its own when a connection dies before the first byte.
    private var attempts = 0
    /// Whether every attempt so far was made on a kept connection, which its server may have closed at that moment.
    private var hasOnlyKept = true
    private var isFromPrivate = false
    private var secretsVersion: UInt64 = 0
    /// Whether a private address was refused before a connection was opened.
    private(set) var refusedPrivate = false
    /// When the current interval of the low-speed check began, and the bytes received until then.
    private var speedMark: (at: Int64, bytes: Int)?
    private let streams: StreamActivity
    /// What takes the body when it is a stream of records.
    private(set) var stream: StreamReceiver?

    /// One retry, after a connection that died or was refused before the first byte. Of a safe method there are more while kept
    /// connections die, up to libcurl's five.
    private static let maximumAttempts = 2
    /// With digest authentication: the challenge, perhaps a stale one, and the answer.
    private static let maximumDigestAttempts = 4

    init?(
        common: ServerCache, authorities: TrustedCertificateCache, budget: MemoryBudget, streams: StreamActivity,
        isPrivate: @escaping @Sendable (IPAddress) -> Bool
    ) {
        guard let easy = curl_easy_init() else { return nil }
        (self.authorities, self.streams, body) = (authorities, streams, ResponseBody(budget))
        (self.easy, self.common, self.cache, self.budget, self.isPrivate) = (easy, common, common, budget, isPrivate)
        cc_set_pointer(easy, CURLOPT_SHARE, common.share)
    }

    deinit {
        // Before `settings`, `cache` and `trusted`, whose list, share and store it has.
        curl_easy_cleanup(easy)
    }

    /// What holds the memory of the body; nil until a byte of it arrives.
    var memory: MemoryShare? { body.memory }

    /// Whether a status line has arrived.
    var hasAnswered: Bool { head.status != 0 }

    /// How long the server keeps the connection when it is idle, in milliseconds; nil when it did not say so.
    var keepAlive: Int64? { head.keepAlive }

    /// Whether the server closes the connection after its response.
    var closes: Bool { head.closes }

    /// Whether the headers are complete. libcurl reports a connection that ends within them as a response without a body.
    var hasHead: Bool { head.hasEnded }

    var isReadingHead: Bool { hasAnswered && !head.hasEnded }

    /// Whether a kept connection brought bytes that are no response: the server had sent more than an earlier response has.
    func isUnclean(after code: CURLcode) -> Bool {
        guard code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_UNSUPPORTED_PROTOCOL, !hasAnswered else { return false }
        return hasOpenedNone
    }

    private var hasOpenedNone: Bool {
        var opened = 0
        return cc_get_long(easy, CURLINFO_NUM_CONNECTS, &opened) == CURLE_OK && opened == 0
    }

    /// Whether the request may be sent once more. What became of the first one is unknown, so its method must be safe.
    ///
    /// `CURLE_HTTP2` may be a GOAWAY before any byte of the response (RFC 9113 §6.8), which libcurl 7.88 neither retries nor
    /// tells from other HTTP/2 errors.
    func mayRetry(after code: CURLcode) -> Bool {
        guard attempts == 1, !hasAnswered, let hop, HTTPSyntax.isSafe(hop.method) else { return false }
        return code == CURLE_HTTP2 || isUnclean(after: code)
    }

    /// Prepares the handle for the same hop once more, on a connection of its own. Its deadlines go on.
    /// - Returns: as `begin`.
    func beginAgain(cookies: String?) -> Bool {
        guard let hop else { return false }
        let sent = attempts
        defer { attempts = sent }
        return begin(id, hop, cookies: cookies, on: .own, cache: cache, now: startedAt)
    }

    /// Whether the response needs no more of its body: the headers of a delivery's reply, an error or a redirect suffice.
    var isSettled: Bool { head.hasEnded && isBodyOptional }

    private var isBodyOptional: Bool { hop?.request.lane == .deliveries || !(200..<300).contains(head.status) }

    /// Prepares the handle for a hop.
    ///
    /// - Parameters:
    ///   - cookies: the value of the Cookie header.
    ///   - cache: of the server.
    /// - Returns: false when libcurl refused an option: the handle may then have the last hop's, and must not be used.
    func begin(
        _ id: RequestQueue.ID, _ hop: RedirectHop, cookies: String?, on connection: ConnectionUse,
        cache: ServerCache, now: Int64
    ) -> Bool {
        // libcurl counts its retries until the handle is reset, and the sixth fails.
        if attempts != 1 || !hasHead { isPlain = false }
        (self.id, self.hop, self.connection, startedAt) = (id, hop, connection, now)
        (problem, speedMark) = (nil, nil)
        (attempts, hasOnlyKept, isFromPrivate, refusedPrivate) = (0, true, false, false)
        head.reset()
        body.clear()
        message.clear()
        limits = hop.request.limits
        (isHead, isReply) = (hop.method == "HEAD", hop.request.lane == .deliveries)
        secretsVersion = hop.isRepeatable ? 0 : hop.request.secrets.version
        let settings = hop.settings(cookies: cookies, isFresh: connection == .own)
        let becomesPlain = hop.body == nil && hop.method == "GET"
        var isSet = true
        if !isPlain || !becomesPlain || !hasOptions(of: settings) { isSet = configure(hop, settings.options) }
        isSet = cc_set_string(easy, CURLOPT_URL, hop.sentURL) == CURLE_OK && isSet
        isSet = use(cache) && isSet
        cc_set_long(easy, CURLOPT_FORBID_REUSE, connection == .kept ? 0 : 1)
        isPlain = becomesPlain && isSet
        cc_set_list(easy, CURLOPT_HTTPHEADER, settings.headers)
        self.settings = settings
        return isSet
    }

    private func use(_ cache: ServerCache) -> Bool {
        guard cache !== self.cache else { return true }
        guard cc_set_pointer(easy, CURLOPT_SHARE, cache.share) == CURLE_OK else { return false }
        self.cache = cache
        return true
    }

    private func hasOptions(of settings: TransferSettings) -> Bool {
        self.settings === settings || self.settings?.options == settings.options
    }

    /// - Returns: false when libcurl refused an option that protects the request.
    private func configure(_ hop: RedirectHop, _ options: TransferOptions) -> Bool {
        curl_easy_reset(easy)
        let user = Unmanaged.passUnretained(self).toOpaque()
        cc_set_pointer(easy, CURLOPT_PRIVATE, user)
        cc_set_pointer(easy, CURLOPT_WRITEDATA, user)
        cc_set_pointer(easy, CURLOPT_HEADERDATA, user)
        message.attach(to: easy)
        cc_set_write(easy, CURLOPT_WRITEFUNCTION, Transfer.onBody)
        cc_set_write(easy, CURLOPT_HEADERFUNCTION, Transfer.onHeader)
        cc_set_pointer(easy, CURLOPT_PREREQDATA, user)
        let hasRequestCheck = cc_set_prereq(easy, Transfer.onRequest) == CURLE_OK
        cc_set_long(easy, CURLOPT_NOSIGNAL, 1)
        cc_quick_exit(easy)
        let isProtocolLimited = cc_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK
        cc_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        cc_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
        cc_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        cc_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        cc_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        // A proxy with TLS has the system's authorities, and libcurl would ask for both with the same call.
        let isSecureProxy = options.proxy?.url.lowercased().hasPrefix("https:") ?? false
        trusted = isSecureProxy ? nil : authorities.trusted(by: options.tls)
        let isProtected = options.apply(to: easy, trusted) && setReach(options) && hasRequestCheck
        return setMethod(hop) && isProtocolLimited && isProtected
    }

    /// Without a proxy the address of the socket is checked. A proxy resolves names itself, and may have a private address.
    private func setReach(_ options: TransferOptions) -> Bool {
        guard options.refusesPrivate, options.proxy == nil else { return true }
        cc_set_pointer(easy, CURLOPT_OPENSOCKETDATA, Unmanaged.passUnretained(self).toOpaque())
        return cc_set_opensocket(easy, Transfer.onSocket) == CURLE_OK
    }

    private func setMethod(_ hop: RedirectHop) -> Bool {
        guard hop.method != "HEAD" else { return cc_set_long(easy, CURLOPT_NOBODY, 1) == CURLE_OK }
        var isSet = true
        if hop.sendsBody {
            let body = hop.body ?? []
            cc_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            // The extra zero gives an empty body an address: without one libcurl would read stdin.
            var bytes = body + [0]
            isSet = bytes.withUnsafeMutableBytes {
                cc_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) == CURLE_OK
            }
        }
        let method = hop.method == "GET" && hop.body == nil ? nil : hop.method
        return cc_set_string(easy, CURLOPT_CUSTOMREQUEST, method) == CURLE_OK && isSet
    }

    // MARK: Addresses

    /// Called before a connection is opened (CURLOPT_OPENSOCKETFUNCTION(3)).
    private static let onSocket: cc_opensocket_function = { user, _, address in
        guard let user, let address else { return CC_SOCKET_BAD }
        let transfer = Unmanaged<Transfer>.fromOpaque(user).takeUnretainedValue()
        guard transfer.mayConnect(address) else { return CC_SOCKET_BAD }
        return socket(address.pointee.family, address.pointee.socktype | Transfer.closeOnExec, address.pointee.protocol)
    }

    private static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)

    /// `addr` is followed by the rest of the address, `addrlen` bytes in all (libcurl's struct curl_sockaddr).
    private func mayConnect(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return false }
        let name = UnsafeRawPointer(address).advanced(by: offset).assumingMemoryBound(to: sockaddr.self)
        guard let address = IPAddress(name), !isPrivate(address) else {
            refusedPrivate = true
            return false
        }
        return true
    }

    /// Called before the request is sent, on a new connection or a kept one (CURLOPT_PREREQFUNCTION(3)).
    private static let onRequest: cc_prereq_function = { user, address, _, _, _ in
        guard let user else { return CURL_PREREQFUNC_ABORT }
        let transfer = Unmanaged<Transfer>.fromOpaque(user).takeUnretainedValue()
        return transfer.maySend(to: address.flatMap { IPAddress($0) }) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    private func maySend(to address: IPAddress?) -> Bool {
        attempts += 1
        let origin = hop?.origin ?? "the server"
        isFromPrivate =
            hop?.proxy == nil ? address.map(isPrivate) ?? true : hop?.namesPrivate(isPrivate) ?? true
        if isFromPrivate, hop?.proxy == nil, hop?.refusesPrivate == true {
            problem = .privateAddress(origin)
            return false
        }
        // What follows an answer is another step of a login, and no repetition.
        let mayRepeat = hasOnlyKept && !hasAnswered && HTTPSyntax.isSafe(hop?.method ?? "")
        hasOnlyKept = hasOnlyKept && hasOpenedNone
        guard attempts > 1 else { return true }
        let hasDigest = isPlain && settings?.options.digest != nil
        guard mayRepeat || attempts <= (hasDigest ? Transfer.maximumDigestAttempts : Transfer.maximumAttempts) else {
            problem =
                hasAnswered
                ? FetchError(.unauthorized, "\(origin) asks for the password again after \(attempts - 1) requests")
                : FetchError(.closed, "\(origin) ended the request \(attempts - 1) times without an answer")
            return false
        }
        // Nothing of the first response may stay in the second.
        stream = nil
        head.reset()
        body.clear()
        body.release()
        return true
    }

    // MARK: The response

    private static let onBody: cc_write_function = { bytes, size, count, user in
        guard let bytes, let user else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(user).takeUnretainedValue()
        let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
        if let stream = transfer.stream { return transfer.received(chunk, stream) }
        return transfer.received(chunk) ? chunk.count : 0
    }

    private static let onHeader: cc_write_function = { bytes, size, count, user in
        guard let bytes, let user else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(user).takeUnretainedValue()
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return transfer.receivedHeader(line) ? line.count : 0
    }

    private func received(_ chunk: UnsafeRawBufferPointer) -> Bool {
        let isSlow = hop?.request.lane == .slowHosts
        switch body.append(chunk, limit: limits.received, promised: head.length, isSlow: isSlow) {
        case nil: return true
        case .tooLong:
            if isBodyOptional {
                body.fill(chunk, limit: limits.received)
            } else {
                problem = FetchError(.tooLarge, "the answer is longer than \(limits.received) bytes")
            }
        // What arrived of an optional body is enough.
        case .noMemory: if !isBodyOptional { problem = .memory(hop?.origin ?? "the server") }
        }
        return false
    }

    private func receivedHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        problem = head.add(line, limits: limits, isHead: isHead, isReply: isReply)
        if problem == nil, head.hasEnded, stream == nil { beginStream() }
        return problem == nil
    }

    // MARK: Streams

    /// Prepares for records when the response may be a stream and is one.
    private func beginStream() {
        guard let settings = hop?.request.stream, head.status == 200 else { return }
        let type = ResponseHeaders(lines: head.lines).mediaType
        guard let format = settings.format(mediaType: type, hasLength: head.length != nil) else { return }
        do throws(FetchError) {
            stream = try StreamReceiver(
                format, encoding: head.encoding, endsWithConnection: head.endsWithConnection,
                keepAlive: settings.keepAlive, memory: budget.share(isSlow: false),
                now: KernelClock.monotonic.milliseconds)
            streams.opened.append(id)
        } catch {
            problem = error
        }
    }

    /// - Returns: what the write callback returns.
    private func received(_ chunk: UnsafeRawBufferPointer, _ stream: StreamReceiver) -> Int {
        do throws(FetchError) {
            let isTaken = try stream.receive(chunk, now: KernelClock.monotonic.milliseconds)
            if stream.hasInput { streams.undecoded.insert(id) }
            return isTaken ? chunk.count : Int(CURL_WRITEFUNC_PAUSE)
        } catch {
            problem = error
            return 0
        }
    }

    /// Goes on with a stream whose reader has caught up.
    /// - Returns: why it must end; nil when it goes on.
    func goOn(now: Int64) -> FetchError? {
        do throws(FetchError) {
            guard let stream, try stream.goOn(now: now) else { return nil }
        } catch {
            return error
        }
        // This calls the write callback with what libcurl holds back.
        guard cc_continue(easy) == CURLE_OK else {
            return problem ?? FetchError(.network, "libcurl could not continue the stream")
        }
        return problem
    }

    /// Returns the response without its body, which goes on arriving.
    func takeHead() -> RawResponse {
        let lines = head.takeLines()
        let clean = QueryRedactor(hop?.request.credentials)?.removed(fromLines: lines) ?? lines
        return RawResponse(
            status: head.status, headers: ResponseHeaders(lines: clean), setsCookies: head.setsCookies, body: [],
            digest: StableHash.of([UInt8]()), isKnown: false, isBodyOptional: false, received: 0, microseconds: 0,
            isFromPrivate: isFromPrivate, secretsVersion: secretsVersion)
    }

    /// Checks the deadlines that libcurl does not have, or has in whole seconds only, and the total once more, so that no
    /// transfer can stay for ever.
    ///
    /// - Returns: nil while the transfer is in time.
    func timeoutError(now: Int64, origin: String) -> FetchError? {
        if let stream { return stream.timeoutError(now: now, origin: origin) }
        if now - startedAt >= limits.total.wholeMilliseconds {
            return .notDone(origin, in: limits.total, timedOut: !hasAnswered)
        }
        guard hasAnswered else {
            guard now - startedAt >= limits.firstByte.wholeMilliseconds else { return nil }
            return FetchError(.timeout, "\(origin) did not begin to answer in \(limits.firstByte)", timedOut: true)
        }
        guard let speedMark else {
            self.speedMark = (now, body.count)
            return nil
        }
        let interval = limits.lowSpeed.wholeMilliseconds
        guard now - speedMark.at >= interval else { return nil }
        self.speedMark = (now, body.count)
        guard Int64(body.count - speedMark.bytes) < max(1, 64 * interval / 1000) else { return nil }
        return FetchError(.timeout, "\(origin) sent less than 64 bytes a second for \(limits.lowSpeed)")
    }

    /// Returns the response, and leaves the handle free for another hop.
    func takeResponse() -> RawResponse {
        let digest = StableHash.of(body.bytes)
        body.complete()
        let count = body.count
        let isKnown = head.status == 200 && hop?.request.knownDigest == digest
        var time: curl_off_t = 0
        cc_get_offset(easy, CURLINFO_TOTAL_TIME_T, &time)
        let lines = head.takeLines()
        let clean = QueryRedactor(hop?.request.credentials)?.removed(fromLines: lines) ?? lines
        return RawResponse(
            status: head.status, headers: ResponseHeaders(lines: clean), encoding: head.encoding,
            setsCookies: head.setsCookies, body: isKnown ? [] : body.take(), digest: digest, isKnown: isKnown,
            isBodyOptional: isBodyOptional, received: count, microseconds: Int64(time),
            isFromPrivate: isFromPrivate,
            certificateExpires: hop?.request.inspectsConnection == true ? CurlCertificateDate.expiry(easy) : nil,
            secretsVersion: secretsVersion, endsWithConnection: head.endsWithConnection,
            memory: isKnown ? nil : memory)
    }

    /// Releases the memory of the last hop, and what is kept of its server.
    func reset() {
        _ = use(common)
        (hop, stream) = (nil, nil)
        body.release()
    }
}
