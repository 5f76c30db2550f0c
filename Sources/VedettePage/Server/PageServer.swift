// SPDX-License-Identifier: Apache-2.0

public import VedetteCore
import VedetteSystem

/// A web server for one page, on a thread of its own. It never waits for a client: one that is slow, in sending or in
/// reading, is cut off.
public final class PageServer: Sendable {
    /// Where it listens; for port 0, the port that the system chose.
    public let address: ListenAddress
    private let messages: LoopMessages

    private init(_ address: ListenAddress, _ messages: LoopMessages) {
        (self.address, self.messages) = (address, messages)
    }

    /// Opens the socket and starts the thread.
    /// - Parameters:
    ///   - healthChecks: the paths that are answered while other requests use up every limit. Their handlers must neither wait
    ///     nor work for long.
    ///   - abandonable: the paths whose handlers are cancelled when the client closes its connection.
    ///   - respond: makes the response to each request, on Swift's pool.
    public static func start(
        _ address: ListenAddress, limits: PageLimits = PageLimits(), healthChecks: Set<String> = [],
        abandonable: Set<String> = [],
        respond: @escaping @Sendable (PageRequest) async -> PageResponse
    ) async throws(ListenError) -> PageServer {
        let socket = try ListenSocket.open(address)
        guard let messages = LoopMessages() else { throw ListenError(address, action: "make a pipe") }
        let server = PageServer(socket.address, messages)
        let isRunning = await withUnsafeContinuation { continuation in
            let code = SystemThread.start {
                guard let loop = ServerLoop(socket, messages, limits, healthChecks, abandonable, respond) else {
                    socket.close()
                    return continuation.resume(returning: false)
                }
                continuation.resume(returning: true)
                loop.run()
            }
            if code != 0 {
                socket.close()
                continuation.resume(returning: false)
            }
        }
        guard isRunning else {
            throw ListenError(address: address, detail: "the system has no thread or memory for it")
        }
        return server
    }

    /// Closes every connection and the socket, and ends the thread.
    public func stop() async {
        await withUnsafeContinuation { continuation in
            if !messages.post(.stop { continuation.resume() }) { continuation.resume() }
        }
    }
}
