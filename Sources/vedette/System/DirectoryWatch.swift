// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Says that something in some directories changed (inotify(7)); what, the reader finds out by reading.
struct DirectoryWatch {
    let changes: AsyncStream<Void>

    /// Directories that do not exist are left out.
    init(_ directories: [String]) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        changes = stream
        let descriptor = inotify_init1(Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return }
        let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)
        for directory in directories { _ = inotify_add_watch(descriptor, directory, events) }
        let box = Box(descriptor: descriptor, continuation: continuation)
        var thread = pthread_t()
        let started = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Box>.fromOpaque(context).takeRetainedValue().readForEver()
                return nil
            }, Unmanaged.passRetained(box).toOpaque())
        if started == 0 { pthread_detach(thread) }
    }

    private final class Box: Sendable {
        let descriptor: Int32
        let continuation: AsyncStream<Void>.Continuation

        init(descriptor: Int32, continuation: AsyncStream<Void>.Continuation) {
            (self.descriptor, self.continuation) = (descriptor, continuation)
        }

        func readForEver() {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0, case .enqueued = continuation.yield() else {
                    if count > 0, case .dropped = continuation.yield() { continue }
                    break
                }
            }
            close(descriptor)
        }
    }
}
