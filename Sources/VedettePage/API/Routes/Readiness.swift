// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Whether polls are stored. Health checks share one reading of the journal, and are answered while it hangs.
actor Readiness {
    /// How long the journal may take to answer.
    static let limit = Duration.seconds(2)

    enum State: Sendable {
        case ready
        /// Polls are due, and nothing is stored.
        case stalled
        case unreadable
        /// The journal has not answered for so long.
        case silent
    }

    private let clock: any Clock
    private let isStalled: @Sendable () async -> Bool?
    /// When the reading that is under way began.
    private var begin: BootTime?
    private var waiting: [AsyncStream<State>.Continuation] = []

    /// How many health checks wait for the journal.
    var asked: Int { waiting.count }
    /// Whether no reading is under way.
    var isIdle: Bool { begin == nil }

    /// - Parameter isStalled: reads the journal; returns nil where that fails.
    init(_ clock: any Clock, isStalled: @escaping @Sendable () async -> Bool?) {
        (self.clock, self.isStalled) = (clock, isStalled)
    }

    func state() async -> State {
        let now = clock.now().boot
        if let begin, begin.advanced(by: Self.limit) <= now { return .silent }
        let (states, continuation) = AsyncStream.makeStream(of: State.self)
        waiting.append(continuation)
        if begin == nil { read(from: now) }
        for await state in states { return state }
        return .silent
    }

    private func read(from now: BootTime) {
        begin = now
        let timer = Task { [clock] in
            guard (try? await clock.sleep(until: now.advanced(by: Self.limit))) != nil else { return }
            self.tell(.silent)
        }
        Task { [isStalled] in
            let isStalled = await isStalled()
            timer.cancel()
            self.begin = nil
            self.tell(isStalled.map { $0 ? .stalled : .ready } ?? .unreadable)
        }
    }

    private func tell(_ state: State) {
        for continuation in waiting { continuation.yield(state) }
        waiting = []
    }
}
