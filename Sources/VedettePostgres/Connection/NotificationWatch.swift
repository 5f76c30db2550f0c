// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedetteSystem

/// Reports changes of a journal through LISTEN, on a connection and a thread of its own. A report is a hint: it also comes
/// every five seconds, since a notification is lost while the connection is away.
struct NotificationWatch {
    /// Which changes are reported.
    enum Interest {
        /// Changes by commands only.
        case requests
        case all
        /// What other watchers than this one did.
        case others(than: Int64)
    }

    private let server: PostgresServer
    private let interest: Interest
    /// The longest time between two reports.
    private let fallback: Duration
    /// One end of a pair; the other end is closed when nobody listens any more.
    private let stop: Int32

    /// Starts a watch, which ends with the consumer of the stream. The first report comes at once.
    static func start(
        _ server: PostgresServer, for interest: Interest, fallback: Duration = .seconds(5)
    ) throws(JournalError) -> AsyncStream<Void> {
        var ends: [Int32] = [-1, -1]
        var code = errno
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        if socketpair(AF_UNIX, kind, 0, &ends) == 0 {
            let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let watch = NotificationWatch(server: server, interest: interest, fallback: fallback, stop: ends[0])
            code = SystemThread.start {
                watch.run { continuation.yield() }
                continuation.finish()
                close(watch.stop)
            }
            if code == 0 {
                // The thread ends when this end of its pair is closed.
                continuation.onTermination = { [end = ends[1]] _ in close(end) }
                return changes
            }
            for end in ends { close(end) }
        } else {
            code = errno
        }
        throw JournalError(
            .inputOutput,
            "failed to watch the journal \(server.connection.location) (\(String(cString: strerror(code)))): "
                + "raise the limits of open files and threads")
    }

    private func run(_ report: () -> Void) {
        var connection: Connection?
        var schema = ""
        var reported = ContinuousClock.now
        while true {
            do throws(PostgresError) {
                if connection == nil {
                    let fresh = try Connection(server)
                    schema = try fresh.run("select current_schema()").first?.optionalText(0) ?? ""
                    try fresh.run("listen \(JournalChange.channel)")
                    connection = fresh
                    // What changed before is found by a reading now.
                    report()
                    reported = .now
                }
                // Notifications that concern others must not put the report off.
                let left = max(.zero, reported + fallback - .now)
                guard let current = connection, let hasInput = wait(on: current.socket, left) else { return }
                let payloads = hasInput ? try current.notifications() : []
                if payloads.contains(where: { concerns($0, schema) }) || reported + fallback <= .now {
                    report()
                    reported = .now
                }
            } catch {
                connection = nil
                report()
                reported = .now
                if wait(on: nil, fallback) == nil { return }
            }
        }
    }

    private func concerns(_ payload: String, _ schema: String) -> Bool {
        guard let (change, writer) = JournalChange.read(payload, schema: schema) else { return false }
        return switch interest {
        case .requests: change == .requests
        case .all: true
        case .others(let own): change != .requests && writer != own
        }
    }

    /// Waits for input, at most for this time.
    /// - Returns: whether there is input; nil when the watch is to end.
    private func wait(on socket: Int32?, _ time: Duration) -> Bool? {
        var polled = [
            pollfd(fd: stop, events: 0, revents: 0), pollfd(fd: socket ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&polled, 2, Int32(clamping: time.wholeMilliseconds + 1))
        return polled[0].revents != 0 ? nil : polled[1].revents != 0
    }
}
