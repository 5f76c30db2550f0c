// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import VedetteCore
import VedetteSystem

/// Appends each message to a file.
enum FileKind {
    static let entry = SinkKindEntry(
        name: "file", summary: "Appends each message to a file, one line each.",
        options: [
            OptionSpec(
                "path", .text, "The file, absolute; where there is none it is made for its owner alone.", required: true
            ),
            OptionSpec(
                "format", .choice(["json", "line"]),
                "`json`: the event, one object per line; `line`: one line for people.", default: "json"),
            OptionSpec("template", .template, "One line per message by this template, instead of a format."),
        ],
        showsTexts: false, isEventSink: true, isLocal: true,
        make: { options throws(OptionProblem) in
            let path = try options.line("path") ?? ""
            guard path.hasPrefix("/"), !path.hasSuffix("/") else {
                throw OptionProblem("path", detail: "must be the absolute path of a file")
            }
            let format = try LineFormat(options, standard: "json")
            return { _, _ in FileSink(path: path, format: format) }
        })
}

/// Opens the file for each message, so that it may be rotated without telling the watcher.
final class FileSink: Sink {
    private let path: String
    private let format: LineFormat
    /// A disk that hangs holds this queue's thread alone.
    private let queue = BlockingQueue()
    /// A failed write cut a line short: the next one begins with a line break.
    private let isTorn = Atomic(false)

    init(path: String, format: LineFormat) { (self.path, self.format) = (path, format) }

    func deliver(_ message: Message) async -> Outcome {
        // A date each time: a file is read on another day, and elsewhere.
        let line = format.bytes(of: message, EventLine { $0.rfc3339 }) + [10]
        do throws(BlockingQueue.Refusal) {
            return try await queue.run { self.append(line) }
        } catch {
            switch error {
            case .cancelled: return .retry(reason: "stopped before the file took the line", after: nil)
            case .full, .late: return .retry(reason: "the file's disk does not answer", after: nil)
            case .noThread(let code): return FileSink.failure(code)
            }
        }
    }

    private func append(_ line: [UInt8]) -> Outcome {
        // A pipe without a reader must be an error, not a wait.
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o600)
        guard file >= 0 else { return FileSink.failure(errno) }
        defer { Glibc.close(file) }
        var rest = (isTorn.load(ordering: .relaxed) ? [10] + line : line)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return FileSink.failure(errno) }
            rest = rest.dropFirst(count)
            isTorn.store(!rest.isEmpty, ordering: .relaxed)
        }
        return .delivered
    }

    /// Every error may be over at the next attempt: a disk is emptied, a directory is mounted, a mode is changed.
    private static func failure(_ code: CInt) -> Outcome {
        .retry(reason: "the file cannot be written: \(String(cString: strerror(code)))", after: nil)
    }
}
