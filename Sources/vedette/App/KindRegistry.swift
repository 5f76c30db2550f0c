// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteConfig
import VedetteCore
import VedetteDesktop
import VedetteSinks
import VedetteSources

/// Where the tables of kinds meet the configuration.
enum KindRegistry {
    static let version = "0.1.0"
    static let userAgent = "vedette/\(version) (+https://vedette.example.org)"
    static let sourceKinds = SourceKinds.all
    static let sinkKinds = SinkKinds.all + [DesktopKind.entry]

    static func loader(_ places: Paths) -> ConfigurationLoader {
        ConfigurationLoader(directory: places.config, sourceKinds: sourceKinds, sinkKinds: sinkKinds)
    }

    /// The configuration, or every error in it and exit 78.
    static func configuration(_ places: Paths) throws -> Configuration {
        let loaded = loader(places).load()
        for diagnostic in loaded.diagnostics { Output.diagnose(diagnostic.description) }
        guard let configuration = loaded.configuration else {
            let count = loaded.diagnostics.filter { $0.severity == .error }.count
            throw Exit(.configuration, "the configuration has \(count) error\(count == 1 ? "" : "s")")
        }
        return configuration
    }

    static func source(_ name: String, in configuration: Configuration) throws -> Source {
        if let source = configuration.sources.first(where: { $0.name == name }) { return source }
        let guess =
            suggestion(for: name, among: configuration.sources.map(\.name)).map { "; did you mean '\($0)'?" } ?? ""
        throw Exit(.usage, "no source is called '\(name)'\(guess)")
    }
}
