// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import VedetteCore

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
        showsTexts: false,
        make: { options throws(OptionProblem) in
            let path = try options.line("path") ?? ""
            guard path.hasPrefix("/"), !path.hasSuffix("/") else {
                throw OptionProblem("path", detail: "must be the absolute path of a file")
            }
            let format = try LineFormat(options, standard: "json")
            return { _, _ in FileSink(path: path, format: format) }
        })
}

final class FileSink: Sink {
    private let path: String
    private let format: LineFormat
    /// A failed write left a line unfinished: the next one begins with a line break. One write at a time.
    private let isTorn = Mutex(false)

    init(path: String, format: LineFormat) { (self.path, self.format) = (path, format) }

    func deliver(_ message: Message) async -> Outcome {
        // A date each time: a file is read on another day, and elsewhere.
        await append(format.bytes(of: message, EventLine { $0.rfc3339 }) + [10])
    }

    /// The disk is waited for on no thread that carries transfers. The file is opened anew each time, so whoever rotates it
    /// need not say so.
    @concurrent
    private func append(_ bytes: [UInt8]) async -> Outcome {
        isTorn.withLock { isTorn in
            // A pipe without a reader must be an error, not a wait.
            let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o600)
            guard file >= 0 else { return FileSink.failed(errno) }
            defer { Glibc.close(file) }
            var rest = (isTorn ? [10] + bytes : bytes)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return FileSink.failed(errno) }
                rest = rest.dropFirst(count)
                isTorn = !rest.isEmpty
            }
            return .delivered
        }
    }

    /// A disk is emptied, a directory is mounted, a mode is mended: each of them may be good at the next attempt.
    private static func failed(_ code: CInt) -> Outcome {
        .retry(reason: "the file cannot be written: \(String(cString: strerror(code)))", after: nil)
    }
}
