// SPDX-License-Identifier: Apache-2.0

import CMicrohttpd

/// A request on a connection, from its first line to the end of its response. It belongs to the server's thread.
final class Exchange {
    enum Stage {
        /// The headers are being read.
        case head
        /// The body is being read.
        case body
        /// A handler makes the response; the connection is suspended.
        case handling
        /// The response is there and is not being written yet.
        case answered(PageResponse)
        case responding
    }

    /// The next part of a stream.
    enum Part {
        /// It is being waited for; the connection is suspended.
        case awaited
        /// What the client has yet to take of it.
        case bytes(ArraySlice<UInt8>)
        case end
    }

    let id: Int
    let connection: OpaquePointer
    /// Why its connection is beyond a limit; nil for any other.
    let excess: String?
    /// As sent: the path and the query.
    let target: String
    var stage = Stage.head
    var method: PageRequest.Method = .get
    var headers: [HeaderField] = []
    var body: [UInt8] = []
    /// Bytes of its response, which are kept until the client has read it; 0 for a stream.
    var responseSize = 0
    /// The handler, or what asks for the next part of a stream.
    var task: Task<Void, Never>?
    var stream: (any PageStream)?
    var part = Part.bytes([])
    var isSuspended = false

    /// The target without its query.
    var path: String { String(target.prefix { $0 != "?" }) }

    /// It outlives the exchange: it stops the library, which calls back about each of them, before it ends.
    unowned let loop: ServerLoop

    init(id: Int, connection: OpaquePointer, excess: String?, target: String, loop: ServerLoop) {
        (self.id, self.connection, self.excess, self.target, self.loop) = (id, connection, excess, target, loop)
    }
}
