// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc
import VedetteConfig
import VedetteCore

/// The names that a shell completes. They come from the configuration and the journal, without reading a secret, also
/// when the configuration has errors. A completion prints nothing else and ends within a second.
enum Completions {
    static let sources = CompletionKind.custom { words, _, _ in names(words).sources.sorted() }
    static let sinks = CompletionKind.custom { words, _, _ in names(words).sinks.sorted() }
    static let rules = CompletionKind.custom { words, _, _ in names(words).rules.sorted() }
    static let servers = CompletionKind.custom { words, _, _ in names(words).servers.sorted() }
    static let serversAndSources = CompletionKind.custom { words, _, _ in
        let names = names(words)
        return names.servers.union(names.sources).sorted()
    }
    /// The keys of the items of the sources that the command line names; without one, of all sources.
    static let items = CompletionKind.custom { words, _, prefix in await keys(words, prefix) }
    static let kinds = CompletionKind.list(KindRegistry.sourceKinds.map(\.name))

    /// With more than these a shell takes seconds to print them.
    private static let limit = 500

    private static func names(_ words: [String]) -> NamesInUse {
        endWithinASecond()
        return UserConfiguration.loader(places(words)).names()
    }

    private static func keys(_ words: [String], _ prefix: String) async -> [String] {
        let sources = names(words).sources
        let values = Set(words.flatMap { $0.split(separator: "=", maxSplits: 1).map(String.init) })
        let named = sources.intersection(values)
        guard let reader = try? await places(words).journal.reader() else { return [] }
        var keys: [String] = []
        for source in (named.isEmpty ? sources : named).sorted() {
            guard let items = try? await reader.items(of: source) else { continue }
            keys += items.values.filter { $0.absentSince == nil }.compactMap(\.item?.key)
        }
        return Array(Set(keys).filter { prefix.isEmpty || $0.hasPrefix(prefix) }.sorted(by: naturalOrder).prefix(limit))
    }

    /// Reads `--config` and `--state` of an unfinished command line.
    private static func places(_ words: [String]) -> Paths {
        var arguments: [String] = []
        for (index, word) in words.enumerated() {
            for option in ["--config", "--state"] {
                if word == option, index + 1 < words.count { arguments += [option, expanded(words[index + 1])] }
                if word.hasPrefix(option + "=") {
                    arguments += [option, expanded(String(word.dropFirst(option.count + 1)))]
                }
            }
        }
        return (try? Paths.parse(arguments)) ?? Paths()
    }

    /// A shell passes the words as they are typed.
    private static func expanded(_ word: String) -> String {
        let plain = word.trimmingCharacters(in: ["\"", "'"])
        return plain.hasPrefix("~/") ? NSHomeDirectory() + plain.dropFirst() : plain
    }

    /// A hung disk must not stop the prompt: the default action of SIGALRM would print "Alarm clock".
    private static func endWithinASecond() {
        signal(SIGALRM) { _ in _exit(0) }
        alarm(1)
    }
}
