// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// SIGTERM, SIGINT and SIGHUP as a stream.
struct Signals {
    let stream: AsyncStream<Int32>
    private let sources: [any DispatchSourceSignal]

    /// Catches the signals, which from then on no longer end the program by themselves.
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

    /// Makes a closed pipe an error of the write, not the end of the program.
    static func ignorePipe() { signal(SIGPIPE, SIG_IGN) }

    /// Undoes an inherited SIG_IGN, with which the exit status of every child would be lost (wait(2)).
    static func collectChildren() { signal(SIGCHLD, SIG_DFL) }
}
