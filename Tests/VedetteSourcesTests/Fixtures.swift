// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import VedetteCore
import VedetteEngine

@testable import VedetteSources

enum Fixture {
    static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: directory.appending(path: name)))
    }

    static func page(_ name: String, url: String = "https://connections.example.org/news/atom/stories/public") throws
        -> PageBody
    {
        PageBody(bytes: try bytes(name), url: url)
    }

    static func kind(
        _ name: String, _ options: [String: OptionValue] = [:], stream: StreamSettings? = nil,
        filter: TextFilter = TextFilter()
    ) throws -> any SourceKind {
        guard let entry = SourceKinds.all.first(where: { $0.name == name }) else { throw ReadError(.shape, name) }
        return try entry.make(Options(options, stream: stream, filter: filter))
    }

    static func source(
        _ name: String, _ options: [String: OptionValue] = [:], filter: TextFilter = TextFilter()
    ) throws -> Source {
        Source(
            name: name, kindName: name, kind: try kind(name, options, filter: filter), server: Server(name: ""),
            url: "https://appliance.example.org", interval: PollInterval(every: .seconds(60)))
    }

    /// The pipeline over bodies.
    static func replay(_ source: Source, rules: RuleSet = RuleSet([])) -> Replay {
        Replay(source, rules: rules, civil: Greenwich(), random: Counter(), log: NoLog())
    }
}

private struct Greenwich: CivilTime {
    func offset(at time: Timestamp, in zone: String?) -> Int { 0 }
}

private struct NoLog: Log {
    func log(_ level: LogLevel, _ message: @autoclosure () -> String) {}
}

/// Different numbers at each call.
private final class Counter: RandomGenerator {
    private let number = Atomic<UInt64>(0)

    func next() -> UInt64 { number.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue }
}

extension Timestamp {
    static func poll(_ number: Int) -> Timestamp { Timestamp(milliseconds: 1_795_000_000_000 + Int64(number) * 60_000) }
}
