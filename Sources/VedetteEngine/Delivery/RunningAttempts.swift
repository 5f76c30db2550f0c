// SPDX-License-Identifier: Apache-2.0

/// The attempts under way, by the id of their delivery.
struct RunningAttempts {
    private var attempts: [Int64: (sink: String, task: Task<Void, Never>)] = [:]

    var isEmpty: Bool { attempts.isEmpty }

    var ids: Set<Int64> { Set(attempts.keys) }

    var tasks: [Task<Void, Never>] { attempts.values.map(\.task) }

    func contains(anyOf sinks: Set<String>) -> Bool { attempts.values.contains { sinks.contains($0.sink) } }

    mutating func started(_ delivery: Int64, to sink: String, _ task: Task<Void, Never>) {
        attempts[delivery] = (sink, task)
    }

    /// - Returns: whether the attempt was cancelled.
    mutating func ended(_ delivery: Int64) -> Bool {
        attempts.removeValue(forKey: delivery)?.task.isCancelled == true
    }

    /// Cancels the attempts to these sinks; nil for all.
    func cancel(to sinks: Set<String>? = nil) {
        for attempt in attempts.values where sinks?.contains(attempt.sink) ?? true { attempt.task.cancel() }
    }
}
