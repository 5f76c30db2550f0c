// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// What a server sends over one connection, piece by piece, as the test says.
final class StreamScript: Sendable {
    private struct State {
        var pieces: [[UInt8]] = []
        var isOver = false
        var sent = 0
    }
    private let state = Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)

    /// Bytes that the server has handed to the kernel.
    var sent: Int { state.withLock { $0.sent } }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        state.withLock { $0.pieces.append(bytes) }
        arrived.signal()
    }

    /// Ends the connection after what was sent.
    func end() {
        state.withLock { $0.isOver = true }
        arrived.signal()
    }

    /// The answer of a server that sends a head, then the pieces.
    func answer(_ headers: String..., status: String = "200 OK") -> WireServer.Answer {
        let head = (["HTTP/1.1 \(status)"] + headers).joined(separator: "\r\n") + "\r\n\r\n"
        return .stream { [self] send in
            guard send(Array(head.utf8)) else { return }
            while let piece = next() {
                guard send(piece) else { return }
                state.withLock { $0.sent += piece.count }
            }
        }
    }

    private func next() -> [UInt8]? {
        while true {
            let (piece, isOver) = state.withLock { state in
                (state.pieces.isEmpty ? nil : state.pieces.removeFirst(), state.isOver)
            }
            if let piece { return piece }
            if isOver {
                // Other connections may wait for the same end.
                arrived.signal()
                return nil
            }
            arrived.wait()
        }
    }
}
