// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteConfig
import VedetteCore

/// A sink's name and options as configured, without the sink: a real one would open connections, and does not tell where
/// it sends.
struct SinkConfigurationProbe: Sink {
    var name: String
    var kind: SinkKindEntry
    var options: Options

    /// `doctor` never sends a message.
    func deliver(_ message: Message) async -> Outcome { .rejected(reason: "doctor sends nothing") }

    /// The table of sink kinds with the same validation of options, whose entries make probes instead of sinks.
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

    /// The URL or mail server that it sends to, which may be a secret or a default; nil for a sink without one.
    var address: String? {
        if let text = options.text("url") ?? options.secret("url")?.value { return text }
        let address = kind.options.first { $0.name == "url" }?.documentedDefault
        return address.flatMap { WebURL($0) == nil ? nil : $0 }
    }

    var tls: TLSPolicy { options.tls("tls") }
}
