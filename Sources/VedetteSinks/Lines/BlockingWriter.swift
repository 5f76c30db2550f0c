// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import VedetteSystem

/// Writes to a descriptor in the order of the calls, on a thread outside Swift's pool. A reader that does not read blocks
/// that thread alone, and a task that waits for a write can be cancelled.
final class BlockingWriter: Sendable {
    enum Result: Sendable, Hashable {
        case written
        /// The reader is gone for good: the pipe has none (EPIPE), or the terminal was closed (EIO).
        case closed
        /// Another error, with the system's description.
        case failed(String)
        /// The waiting task was cancelled; the bytes may still be written.
        case cancelled
    }

    /// The standard output of this process. There is one, so that the lines of two sinks are not mixed.
    static let standardOutput = BlockingWriter(STDOUT_FILENO)

    private let descriptor: CInt
    /// At the start: nothing tells of a terminal that was closed that it was one.
    private let isTerminal: Bool
    private let queue = BlockingQueue()
    /// An error cut a line short: the next write begins with a line break, so that the reader loses that line alone.
    private let isTorn = Atomic(false)

    init(_ descriptor: CInt) { (self.descriptor, isTerminal) = (descriptor, isatty(descriptor) == 1) }

    func write(_ bytes: [UInt8]) async -> Result {
        do throws(BlockingQueue.Refusal) {
            return try await queue.run { self.writeBlocking(bytes) }
        } catch {
            switch error {
            case .cancelled: return .cancelled
            case .full, .late: return .failed("its reader does not read")
            case .noThread(let code): return .failed(String(cString: strerror(code)))
            }
        }
    }

    private func writeBlocking(_ bytes: [UInt8]) -> Result {
        var rest = (isTorn.load(ordering: .relaxed) ? [10] + bytes : bytes)[...]
        while !rest.isEmpty {
            // The queue's thread blocks SIGPIPE, so a closed pipe is an error here, whatever the program does with signals.
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            let code = errno
            switch (count, code) {
            case (0..., _):
                rest = rest.dropFirst(count)
                isTorn.store(!rest.isEmpty, ordering: .relaxed)
            case (_, EINTR): continue
            case (_, EAGAIN): FileDescriptor.waitUntilWritable(descriptor)
            case (_, EPIPE): return .closed
            // Of a file it is the disk's, and may pass.
            case (_, EIO) where isTerminal: return .closed
            default: return .failed(String(cString: strerror(code)))
            }
        }
        return .written
    }
}
