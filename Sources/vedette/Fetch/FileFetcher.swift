// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import VedetteCore
import VedetteSystem

/// Reads `file:` URLs.
final class FileFetcher: Sendable {
    /// One queue per path, so that a file system that hangs delays no other file.
    private let queues = Mutex<[String: BlockingQueue]>([:])

    /// - Parameter path: of the file that the request names.
    func fetch(_ path: String, _ request: Request) async throws(FetchError) -> Response {
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
        return Response(try read.get(), to: request)
    }

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
