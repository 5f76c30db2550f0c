// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

/// The transfer of one mail, on a connection of its own, by the loop's thread alone.
///
/// libcurl connects, starts TLS and logs in (CURLOPT_CONNECT_ONLY(3)); from MAIL on `MailDialogue` continues. libcurl's own
/// SMTP blocks inside one call while it waits for the final reply, and again for the reply to QUIT (curl's TODO, "More
/// non-blocking"), and with it every poll would wait.
final class MailTransfer {
    typealias Recipient = (Result<MailReply, FetchError>) -> Void

    let id: RequestQueue.ID
    let mail: Mail
    let easy: UnsafeMutableRawPointer
    /// What the handle verifies the certificate by.
    private let trusted: TrustedCertificates?
    let message = CurlMessage()
    let startedAt: Int64
    /// Nil once it has the result.
    private var recipient: Recipient?
    /// When the connection is closed even without a reply to QUIT; nil until the final reply.
    private(set) var quitDeadline: Int64?
    /// Nil until libcurl has connected and logged in.
    private(set) var socket: curl_socket_t?
    /// The last reply that libcurl received.
    private(set) var lastReply: SMTPReply?
    /// The error of a reply without an end, or of bytes that are not a reply; libcurl would go on reading.
    private(set) var problem: FetchError?
    private var dialogue: MailDialogue
    private var replies = MailReplies()
    private var unsent: ArraySlice<UInt8> = []

    /// Whether the server has the whole mail and has not replied to it.
    var awaitsFinalReply: Bool { dialogue.awaitsFinalReply && unsent.isEmpty }

    private static let chunk = 16 << 10
    /// How long a server has to reply to QUIT, in milliseconds.
    private static let quitTimeout: Int64 = 2000

    /// Nil when there is no memory.
    init?(
        _ id: RequestQueue.ID, _ mail: Mail, _ trusted: TrustedCertificates?, _ recipient: @escaping Recipient,
        now: Int64
    ) {
        guard let easy = curl_easy_init() else { return nil }
        (self.id, self.mail, self.trusted, self.easy, self.recipient, startedAt) =
            (id, mail, trusted, easy, recipient, now)
        dialogue = MailDialogue(mail)
    }

    deinit { curl_easy_cleanup(easy) }

    /// Delivers the result, once.
    func deliver(_ result: Result<MailReply, FetchError>) { recipient.take()?(result) }

    /// The final reply is there, and the one to QUIT is still awaited.
    func awaitQuit(now: Int64) { quitDeadline = now + MailTransfer.quitTimeout }

    /// Sets the options of the handle.
    ///
    /// - Returns: false when libcurl refused an option that protects the mail: the handle must then not be used.
    func configure(share: UnsafeMutableRawPointer) -> Bool {
        message.attach(to: easy)
        cc_set_pointer(easy, CURLOPT_SHARE, share)
        cc_set_pointer(easy, CURLOPT_HEADERDATA, Unmanaged.passUnretained(self).toOpaque())
        cc_set_write(easy, CURLOPT_HEADERFUNCTION, MailTransfer.onLine)
        cc_set_long(easy, CURLOPT_NOSIGNAL, 1)
        cc_quick_exit(easy)
        cc_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
        // All mail has one cache of sessions, in which libcurl does not tell by which authorities one was verified.
        cc_set_long(easy, CURLOPT_SSL_SESSIONID_CACHE, 0)
        cc_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        let limit = max(1, Int(mail.timeout.wholeMilliseconds))
        cc_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, limit)
        cc_set_long(easy, CURLOPT_TIMEOUT_MS, limit)
        // The empty string keeps libcurl from reading the environment.
        let isDirect = cc_set_string(easy, CURLOPT_PROXY, "") == CURLE_OK
        let isProtocolLimited = cc_set_string(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps") == CURLE_OK
        let stopsAfterLogin = cc_set_long(easy, CURLOPT_CONNECT_ONLY, 1) == CURLE_OK
        let url = mail.server.origin + (mail.hello.map { "/" + $0 } ?? "")
        return cc_set_string(easy, CURLOPT_URL, url) == CURLE_OK && isDirect && isProtocolLimited && stopsAfterLogin
            && setTLS() && setLogin()
    }

    private func setTLS() -> Bool {
        let upgrade =
            switch mail.upgrade {
            case .required: CC_USE_SSL_ALL
            case .optional: CC_USE_SSL_TRY
            case .never: CC_USE_SSL_NONE
            }
        return cc_set_long(easy, CURLOPT_USE_SSL, upgrade) == CURLE_OK && mail.tls.apply(to: easy, trusted)
    }

    private func setLogin() -> Bool {
        guard let login = mail.login else { return true }
        cc_set_long(easy, CURLOPT_SASL_IR, 1)
        // libcurl would prefer GSSAPI where a server offers it, ask for a ticket instead of using the password, and not
        // fall back.
        return cc_set_string(easy, CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN") == CURLE_OK
            && cc_set_string(easy, CURLOPT_USERNAME, login.user) == CURLE_OK
            && cc_set_string(easy, CURLOPT_PASSWORD, login.password.value) == CURLE_OK
    }

    private static let onLine: cc_write_function = { bytes, size, count, user in
        guard let bytes, let user else { return 0 }
        let transfer = Unmanaged<MailTransfer>.fromOpaque(user).takeUnretainedValue()
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return transfer.received(line) ? line.count : 0
    }

    /// Reads what the server sends to libcurl, before the dialogue.
    private func received(_ line: UnsafeRawBufferPointer) -> Bool {
        guard socket == nil else { return true }
        do throws(FetchError) {
            try replies.append(line)
            if let last = replies.take().last { lastReply = last }
            return true
        } catch {
            problem = withOrigin(error)
            return false
        }
    }

    private func withOrigin(_ error: FetchError) -> FetchError {
        FetchError(error.failure, "\(mail.server.origin) does not speak SMTP: \(error.detail)")
    }

    // MARK: The dialogue

    /// Starts the dialogue on the connection that libcurl has made.
    func open() throws(FetchError) {
        var socket = CC_SOCKET_BAD
        guard cc_get_socket(easy, &socket) == CURLE_OK, socket != CC_SOCKET_BAD else {
            throw FetchError(.closed, "\(mail.server.origin) closed the connection")
        }
        self.socket = socket
        replies = MailReplies()
        unsent = dialogue.opening[...]
    }

    /// What the loop waits for on the socket.
    var pollEntry: curl_waitfd? {
        guard let socket else { return nil }
        let events = unsent.isEmpty ? CURL_WAIT_POLLIN : CURL_WAIT_POLLIN | CURL_WAIT_POLLOUT
        return curl_waitfd(fd: socket, events: Int16(events), revents: 0)
    }

    enum Progress { case waiting, finalReply(MailReply), closed }

    private var hasFinalReply: Bool { dialogue.finalReply != nil }

    /// Receives and sends as much as is possible without waiting.
    func advance() throws(FetchError) -> Progress {
        let hadFinalReply = hasFinalReply
        var isOpen = false
        do throws(FetchError) {
            isOpen = try exchange()
        } catch {
            // The final reply holds, even if the connection breaks after it.
            guard hasFinalReply else { throw error }
        }
        guard let reply = dialogue.finalReply else {
            guard isOpen else {
                throw FetchError(.closed, "\(mail.server.origin) closed the connection without a reply to the mail")
            }
            return .waiting
        }
        guard hadFinalReply else { return .finalReply(reply) }
        return dialogue.isFinished || !isOpen ? .closed : .waiting
    }

    /// - Returns: false when the server has closed the connection.
    private func exchange() throws(FetchError) -> Bool {
        guard try receiveReplies() else { return false }
        guard !send() else { return true }
        // What the server sent before it closed may contain the reason.
        guard try receiveReplies(), hasFinalReply else {
            throw FetchError(.closed, "\(mail.server.origin) broke the connection")
        }
        return false
    }

    /// - Returns: false when the server has closed the connection.
    private func receiveReplies() throws(FetchError) -> Bool {
        while !dialogue.isFinished, let chunk = try receive() {
            guard !chunk.isEmpty else { return false }
            do throws(FetchError) { try replies.append(chunk) } catch { throw withOrigin(error) }
            for reply in replies.take() {
                let isSent = unsent.isEmpty
                let next = try dialogue.received(reply, isSent: isSent)
                // In the middle of the content a QUIT would be content too.
                unsent = isSent || !hasFinalReply ? unsent + next : []
            }
            guard send() || hasFinalReply else { return true }
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

    /// - Returns: nil when nothing has arrived; an empty chunk when the server has closed the connection.
    private func receive() throws(FetchError) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: MailTransfer.chunk)
        var count = 0
        let code = chunk.withUnsafeMutableBytes { curl_easy_recv(easy, $0.baseAddress, $0.count, &count) }
        if code == CURLE_AGAIN { return nil }
        guard code == CURLE_OK else { throw FetchError(.closed, "\(mail.server.origin) broke the connection") }
        return Array(chunk.prefix(count))
    }
}
