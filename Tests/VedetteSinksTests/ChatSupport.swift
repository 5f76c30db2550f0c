// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteSinks

/// A clock whose `sleep` returns at once and advances the time.
final class SteppingClock: VedetteCore.Clock {
    private let start: Timestamp
    private let elapsed = Mutex<Int64>(0)

    init(_ text: String = "2026-11-21T10:00:00Z") { start = Timestamp(rfc3339: text) ?? Timestamp(milliseconds: 0) }

    func now() -> Moment {
        let elapsed = elapsed.withLock { $0 }
        return Moment(
            wall: start.advanced(by: .milliseconds(elapsed)), boot: BootTime(milliseconds: 1_000_000 + elapsed))
    }

    func sleep(until deadline: BootTime) async throws(CancellationError) {
        if Task.isCancelled { throw CancellationError() }
        elapsed.withLock { $0 = max($0, deadline.milliseconds - 1_000_000) }
    }

    /// Since the start.
    var seconds: Double { Double(elapsed.withLock { $0 }) / 1000 }
}

/// The configuration of each chat in these tests, and its secrets.
struct ChatSample: Sendable, CustomTestStringConvertible {
    var kind: String
    var options: [String: OptionValue]
    var secrets: [String]

    var testDescription: String { kind }

    var entry: SinkKindEntry? { SinkKinds.all.first { $0.name == kind } }

    func sink(
        _ fetcher: ScriptedFetcher, clock: any VedetteCore.Clock = SteppingClock(), more: [String: OptionValue] = [:]
    ) throws -> any Sink {
        let services = SinkServices(fetcher: fetcher, clock: clock, userAgent: "vedette/1.0")
        let options = Options(options.merging(more) { $1 })
        guard let entry else { throw OptionProblem(detail: "no kind \(kind)") }
        return try entry.make(options)("team", services)
    }

    private static func webhook(_ kind: String, _ url: String, _ secret: String) -> ChatSample {
        ChatSample(kind: kind, options: ["url": .secret(Secret(url + secret))], secrets: [secret])
    }

    static let all: [ChatSample] = [
        webhook("slack", "https://hooks.slack.com/services/T0001/B0002/", "s1ackS3cretS3cretS3cret"),
        webhook("mattermost", "https://chat.example.com/hooks/", "m4tterm0sts3cretm4tterm0st"),
        webhook("discord", "https://discord.com/api/webhooks/123456789/", "d1sc0rdS3cret_d1sc0rdS3cret"),
        webhook(
            "teams",
            "https://prod-1.westus.logic.azure.com/workflows/w1/triggers/manual/paths/invoke?api-version=1&sig=",
            "t3amsS3cret-t3amsS3cret"),
        webhook(
            "googlechat", "https://chat.googleapis.com/v1/spaces/AAAA/messages?key=AIza&token=", "g00gleS3cretToken_x"),
        ChatSample(
            kind: "matrix",
            options: [
                "url": .text("https://matrix.example.org"), "token": .secret(Secret("syt_m4trixS3cretToken")),
                "room": .text("!abc:example.org"),
            ], secrets: ["syt_m4trixS3cretToken"]),
        ChatSample(
            kind: "ntfy",
            options: ["topic": .secret(Secret("t0picS3cretName")), "token": .secret(Secret("tk_ntfyS3cretToken"))],
            secrets: ["t0picS3cretName", "tk_ntfyS3cretToken"]),
        ChatSample(
            kind: "gotify",
            options: ["url": .text("https://push.example.com/gotify/"), "token": .secret(Secret("AG0t1fyS3cret"))],
            secrets: ["AG0t1fyS3cret"]),
        ChatSample(
            kind: "telegram",
            options: [
                "token": .secret(Secret("123456789:AAtelegramS3cretTelegramS3cret-x_y")),
                "chat": .text("-1001234567890"),
            ], secrets: ["AAtelegramS3cretTelegramS3cret-x_y"]),
    ]

    static func of(_ kind: String) -> ChatSample {
        all.first { $0.kind == kind } ?? ChatSample(kind: kind, options: [:], secrets: [])
    }
}

extension ScriptedFetcher {
    convenience init(status: Int, headers: [(String, String)] = [], body: String) {
        let response = Response(status: status, headers: ResponseHeaders(headers), body: Array(body.utf8))
        self.init { _ in .success(response) }
    }
}

/// Runs Python over the input, since its parsers are not ours.
enum Python {
    /// The Python that has the packages of contrib/packages; contrib/test makes it.
    static let withPackages = SinkContractTests.root.appending(path: ".build/python/bin/python3").path

    /// What it printed, and its exit status.
    static func run(_ script: String, input: [UInt8], python: String = "python3") throws
        -> (output: String, status: Int32)
    {
        guard python == "python3" || FileManager.default.isExecutableFile(atPath: python) else {
            return ("\(python) is missing: type contrib/test, or '. contrib/packages; need_python'", 69)
        }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [python, "-c", script]
        let (into, out) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (into, out, out)
        try process.runUnblocked()
        // The scripts read all of their input before they print.
        try into.fileHandleForWriting.write(contentsOf: input)
        try into.fileHandleForWriting.close()
        let output = try out.fileHandleForReading.readToEnd() ?? Data()
        return (String(decoding: output, as: UTF8.self), process.waitForEnd())
    }
}
