// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteConfig
import VedetteCore

/// A sink as it is written, for looking at where it leads without making it: a real one would open connections, and its
/// kind tells nobody what it was given.
struct SinkConfigurationProbe: Sink {
    var name: String
    var kind: SinkKindEntry
    var options: Options

    /// `doctor` never sends a message.
    func deliver(_ message: Message) async -> Outcome { .rejected(reason: "doctor sends nothing") }

    /// The same table of kinds, which judges the options just so, but makes these.
    static let kinds: [SinkKindEntry] = KindRegistry.sinkKinds.map { kind in
        var entry = kind
        entry.make = { options throws(OptionProblem) in
            _ = try kind.make(options)
            return { name, _ in SinkConfigurationProbe(name: name, kind: kind, options: options) }
        }
        return entry
    }

    static func all(in configuration: Configuration, _ services: SinkServices) -> [SinkConfigurationProbe] {
        configuration.sinks.compactMap { $0.make($0.name, services) as? SinkConfigurationProbe }
    }

    /// Where it sends to, whether that is a secret or has a standard; nil for a sink that is no web address.
    var address: String? {
        if let text = options.text("url") ?? options.secret("url")?.value { return text }
        let address = kind.options.first { $0.name == "url" }?.documentedDefault
        return address.flatMap { WebURL($0) == nil ? nil : $0 }
    }

    var tls: TLSPolicy { options.tls("tls") }
}
