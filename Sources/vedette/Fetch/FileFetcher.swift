// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import VedetteCore
import VedetteHTTP
import VedetteSystem

/// Reads `file:` URLs, runs commands, and passes all others to the HTTP client. Only a configured URL can be a file or a
/// command: redirects and next pages must be http or https, which is checked before.
final class FileFetcher: CallbackFetcher {
    private let web: HTTPClient
    /// One queue per path, so that a file system that hangs delays no other file.
    private let queues = Mutex<[String: BlockingQueue]>([:])

    init(web: HTTPClient) { self.web = web }

    func fetch(_ request: Request) async throws(FetchError) -> Response {
        // The prefix first: parsing each URL would cost a twentieth of a poll.
        if let arguments = CommandURL.arguments(request.url) {
            return try await CommandFetcher().fetch(arguments, request)
        }
        guard request.url.hasPrefix("file:"), let url = URL(string: request.url), url.isFileURL else {
            return try await web.fetch(request)
        }
        let path = url.path(percentEncoded: false)
        let queue = queues.withLock { queues in
            if let queue = queues[path] { return queue }
            let queue = BlockingQueue()
            queues[path] = queue
            return queue
        }
        let limit = request.limits.received
        let read: Result<[UInt8], FetchError>
        do throws(BlockingQueue.Refusal) {
            read = try await queue.run(within: request.limits.total) {
                Result { () throws(FetchError) in try FileFetcher.read(path, limit) }
            }
        } catch {
            throw FileFetcher.error(error, path, request.limits.total)
        }
        let body = try read.get()
        var response = Response(status: 200, digest: StableHash.of(body), url: request.url, received: body.count)
        response.isUnchanged = response.digest == request.knownDigest
        if !response.isUnchanged { response.body = body }
        return response
    }

    func send(_ request: Request, ended: @escaping @Sendable (FirstAnswer) -> Void) -> SentRequestID? {
        request.url.hasPrefix("http") ? web.send(request, ended: ended) : nil
    }

    func cancel(_ id: SentRequestID) async { await web.cancel(id) }

    private static func error(_ refusal: BlockingQueue.Refusal, _ path: String, _ limit: Duration) -> FetchError {
        switch refusal {
        case .cancelled: FetchError(.cancelled, "the poll was cancelled")
        case .late:
            FetchError(
                .timeout,
                "\(path) could not be read within \(limit.components.seconds) s; its file system does not answer")
        case .full, .noThread: FetchError(.timeout, "\(path) could not be read")
        }
    }

    private static func read(_ path: String, _ limit: Int) throws(FetchError) -> [UInt8] {
        // Without O_NONBLOCK a pipe that nobody writes to would hang here.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw FetchError(.notFound, "the file \(path) is not there or cannot be read") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw FetchError(.notFound, "\(path) is not a regular file")
        }
        var body: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw FetchError(.notFound, "\(path) cannot be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 { return body }
            body += buffer[..<count]
            guard body.count <= limit else { throw FetchError(.tooLarge, "\(path) is longer than \(limit) bytes") }
        }
    }
}
