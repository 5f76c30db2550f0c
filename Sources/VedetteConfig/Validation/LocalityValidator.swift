// SPDX-License-Identifier: Apache-2.0

/// Refuses sources and sinks of one machine that several watchers could use: each machine has other files and programs,
/// another desktop and another standard output.
struct LocalityValidator {
    let findings: Findings

    func refuse(_ entry: YAMLEntry, _ noun: String) {
        findings.error(
            entry.key.place,
            "the \(noun) '\(entry.name)' belongs to one machine, and watchers on several machines may share the journal: "
                + "add 'watcher: NAME' with the host's name, or what that machine has as 'watcher' in 'settings'")
    }
}
