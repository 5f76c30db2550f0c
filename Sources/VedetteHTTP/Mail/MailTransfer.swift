// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

/// One mail on its way, on a connection of its own. Touched by the loop's thread alone.
///
/// libcurl connects, speaks TLS or STARTTLS, and logs in; from MAIL on we speak for ourselves (CURLOPT_CONNECT_ONLY(3)).
/// Left to libcurl, the end of a mail would block: it waits for the server's verdict, and later for the answer to QUIT, inside
/// one call (curl's TODO, "More non-blocking"), and with it every poll would wait.
final class MailTransfer {
    typealias Continuation = UnsafeContinuation<Result<MailReply, FetchError>, Never>

    let id: RequestQueue.ID
    let mail: Mail
    let easy: UnsafeMutableRawPointer
    let startedAt: Int64
    /// Nil once it has been told.
    var continuation: Continuation?
    /// Until when a server that has given its verdict may say goodbye.
    var leavesBy: Int64?
    /// Nil until libcurl has connected us.
    private(set) var socket: curl_socket_t?
    /// The server's last words to libcurl.
    private(set) var lastHeard: MailAnswer?
    /// A reply that libcurl would read for ever, or that is none.
    private(set) var problem: FetchError?
    private var dialogue: MailDialogue
    private var replies = MailReplies()
    private var unsent: ArraySlice<UInt8> = []
    private let words: UnsafeMutablePointer<CChar>

    /// The server has the whole mail.
    var isJudged: Bool { dialogue.awaitsVerdict && unsent.isEmpty }

    private static let chunk = 16 << 10

    /// Nil when there is no memory.
    init?(_ id: RequestQueue.ID, _ mail: Mail, _ continuation: Continuation, now: Int64) {
        guard let easy = curl_easy_init() else { return nil }
        (self.id, self.mail, self.easy, self.continuation, startedAt) = (id, mail, easy, continuation, now)
        dialogue = MailDialogue(mail)
        words = .allocate(capacity: Int(CURL_ERROR_SIZE))
        words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(easy)
        words.deallocate()
    }

    /// libcurl's own words about a failure; not to be shown.
    func says(_ text: String) -> Bool { String(cString: words).contains(text) }

    /// - Returns: false when libcurl refused an option that guards something: then it must not be used.
    func configure(share: UnsafeMutableRawPointer) -> Bool {
        cc_set_pointer(easy, CURLOPT_SHARE, share)
        cc_set_pointer(easy, CURLOPT_ERRORBUFFER, words)
        cc_set_pointer(easy, CURLOPT_HEADERDATA, Unmanaged.passUnretained(self).toOpaque())
        cc_set_write(easy, CURLOPT_HEADERFUNCTION, MailTransfer.onLine)
        cc_set_long(easy, CURLOPT_NOSIGNAL, 1)
        cc_quick_exit(easy)
        cc_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
        cc_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        let limit = max(1, Int(mail.timeout.wholeMilliseconds))
        cc_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, limit)
        cc_set_long(easy, CURLOPT_TIMEOUT_MS, limit)
        // The empty string keeps libcurl from reading the environment.
        let isDirect = cc_set_string(easy, CURLOPT_PROXY, "") == CURLE_OK
        let isBound = cc_set_string(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps") == CURLE_OK
        let isOurs = cc_set_long(easy, CURLOPT_CONNECT_ONLY, 1) == CURLE_OK
        let url = mail.server.origin + (mail.hello.map { "/" + $0 } ?? "")
        return cc_set_string(easy, CURLOPT_URL, url) == CURLE_OK && isDirect && isBound && isOurs && setTLS()
            && setLogin()
    }

    private func setTLS() -> Bool {
        let upgrade =
            switch mail.upgrade {
            case .required: CURLUSESSL_ALL
            case .optional: CURLUSESSL_TRY
            case .never: CURLUSESSL_NONE
            }
        return cc_set_long(easy, CURLOPT_USE_SSL, Int(upgrade.rawValue)) == CURLE_OK && mail.tls.apply(to: easy)
    }

    private func setLogin() -> Bool {
        guard let login = mail.login else { return true }
        cc_set_long(easy, CURLOPT_SASL_IR, 1)
        // Left to itself libcurl prefers GSSAPI where a server offers it, asks for a ticket instead of using the password,
        // and does not fall back.
        return cc_set_string(easy, CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN") == CURLE_OK
            && cc_set_string(easy, CURLOPT_USERNAME, login.user) == CURLE_OK
            && cc_set_string(easy, CURLOPT_PASSWORD, login.password.value) == CURLE_OK
    }

    private static let onLine: cc_write_function = { bytes, size, count, user in
        guard let bytes, let user else { return 0 }
        let transfer = Unmanaged<MailTransfer>.fromOpaque(user).takeUnretainedValue()
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return transfer.overheard(line) ? line.count : 0
    }

    /// What the server says while libcurl speaks with it.
    private func overheard(_ line: UnsafeRawBufferPointer) -> Bool {
        guard socket == nil else { return true }
        do throws(FetchError) {
            try replies.append(line)
            if let last = replies.take().last { lastHeard = last }
            return true
        } catch {
            problem = named(error)
            return false
        }
    }

    private func named(_ error: FetchError) -> FetchError {
        FetchError(error.failure, "\(mail.server.origin) does not speak SMTP: \(error.detail)")
    }

    // MARK: The dialogue

    /// libcurl has connected us.
    func open() throws(FetchError) {
        var socket = CC_SOCKET_BAD
        guard cc_get_socket(easy, &socket) == CURLE_OK, socket != CC_SOCKET_BAD else {
            throw FetchError(.closed, "\(mail.server.origin) closed the connection")
        }
        self.socket = socket
        replies = MailReplies()
        unsent = dialogue.opening[...]
    }

    /// What the loop waits for.
    var wish: curl_waitfd? {
        guard let socket else { return nil }
        let events = unsent.isEmpty ? CURL_WAIT_POLLIN : CURL_WAIT_POLLIN | CURL_WAIT_POLLOUT
        return curl_waitfd(fd: socket, events: Int16(events), revents: 0)
    }

    enum Progress { case waits, verdict(MailReply), over }

    /// Nothing but the goodbye is left.
    var hasVerdict: Bool { dialogue.verdict != nil }

    /// Hears and says what can be heard and said without waiting.
    func goOn() throws(FetchError) -> Progress {
        let hadVerdict = hasVerdict
        var isOpen = false
        do throws(FetchError) {
            isOpen = try talk()
        } catch {
            // A verdict stands, whatever becomes of the connection.
            guard hasVerdict else { throw error }
        }
        guard let verdict = dialogue.verdict else {
            guard isOpen else {
                throw FetchError(.closed, "\(mail.server.origin) closed the connection without a verdict")
            }
            return .waits
        }
        guard hadVerdict else { return .verdict(verdict) }
        return dialogue.isOver || !isOpen ? .over : .waits
    }

    /// - Returns: false when the server has closed.
    private func talk() throws(FetchError) -> Bool {
        guard try hear() else { return false }
        guard !send() else { return true }
        // Why it broke off may stand in what it sent before.
        guard try hear(), hasVerdict else { throw FetchError(.closed, "\(mail.server.origin) broke the connection") }
        return false
    }

    /// - Returns: false when the server has closed.
    private func hear() throws(FetchError) -> Bool {
        while !dialogue.isOver, let chunk = try receive() {
            guard !chunk.isEmpty else { return false }
            do throws(FetchError) { try replies.append(chunk) } catch { throw named(error) }
            for answer in replies.take() {
                let isSent = unsent.isEmpty
                let next = try dialogue.heard(answer, isSent: isSent)
                // Within the content even a QUIT would be content.
                unsent = isSent || !hasVerdict ? unsent + next : []
            }
            guard send() || hasVerdict else { return true }
        }
        return true
    }

    /// - Returns: false when the connection is broken.
    private func send() -> Bool {
        while !unsent.isEmpty {
            var count = 0
            let code = unsent.withUnsafeBytes { curl_easy_send(easy, $0.baseAddress, $0.count, &count) }
            if code == CURLE_AGAIN { return true }
            guard code == CURLE_OK else { return false }
            unsent = unsent.dropFirst(count)
        }
        return true
    }

    /// Nil when there is nothing yet; empty when the server has closed.
    private func receive() throws(FetchError) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: MailTransfer.chunk)
        var count = 0
        let code = chunk.withUnsafeMutableBytes { curl_easy_recv(easy, $0.baseAddress, $0.count, &count) }
        if code == CURLE_AGAIN { return nil }
        guard code == CURLE_OK else { throw FetchError(.closed, "\(mail.server.origin) broke the connection") }
        return Array(chunk.prefix(count))
    }
}
