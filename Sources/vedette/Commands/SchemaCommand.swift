// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VedetteConfig
import VedetteCore

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema of the configuration, for editors.",
        discussion: """
            contrib/vedette.schema.json is what it prints.

            Examples:
              vedette schema > vedette.schema.json
              vedette schema | jq .properties.settings
            """)

    func run() throws {
        let schema = ConfigurationSchema(sourceKinds: KindRegistry.sourceKinds, sinkKinds: KindRegistry.sinkKinds)
        try Output.print(schema.json.text)
    }
}
