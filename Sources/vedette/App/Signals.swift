// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// SIGTERM, SIGINT and SIGHUP as a stream.
struct Signals {
    let stream: AsyncStream<Int32>
    private let sources: [any DispatchSourceSignal]

    /// From here on these signals no longer end the program by themselves.
    init(_ wanted: [Int32] = [SIGTERM, SIGINT, SIGHUP]) {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.stream = stream
        sources = wanted.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.activate()
            return source
        }
    }

    /// A closed pipe is an error to handle where it is written to.
    static func ignorePipe() { signal(SIGPIPE, SIG_IGN) }

    /// Whoever started us may ignore SIGCHLD, and we inherit that: then the exit status of every child is lost (wait(2)).
    static func collectChildren() { signal(SIGCHLD, SIG_DFL) }
}
