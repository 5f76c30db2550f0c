// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The settings of a job that have no equal here: why, and what to write instead.
enum JobSettings {
    /// The settings that `ImportedJob` reads, and those that say nothing beyond them.
    static let read: Set<String> = [
        "name", "url", "navigate", "command", "kind", "filter", "filters", "enabled", "use_browser", "method", "data",
        "data_as_json", "params", "headers", "cookies", "useragent", "max_tries", "treat_new_as_changed", "encoding",
        "additions_only", "index_number", "guid",
    ]

    private static let groups: [(names: [String], reason: String)] = [
        (
            ["diff_tool", "differ", "diff_filter", "diff_filters", "deletions_only", "contextlines"],
            "a message has the old and the new value; 'text' of a rule's 'notify' chooses its words"
        ),
        (
            ["monospace", "is_markdown", "markdown_padded_tables", "mime_type", "note", "user_visible_url"],
            "it concerns reports; 'text' of a rule's 'notify' has the words of a message"
        ),
        (["compared_versions"], "a poll is compared with the one before; 'once_per' of a rule tells a value once"),
        (["tags"], "a rule names its sources in 'when: {source: […]}'"),
        (["timeout"], "each poll has the time limits of this program; there is no setting"),
        (
            ["ssl_no_verify", "ignore_https_errors", "ignore_dh_key_too_small"],
            "certificates are checked; `vedette trust SOURCE` pins the key of a self-signed one"
        ),
        (
            ["http_proxy", "https_proxy", "proxy"],
            "the environment names the proxy, or 'proxy' of a server in the configuration"
        ),
        (
            [
                "ignore_connection_errors", "ignore_timeout_errors", "ignore_http_error_codes",
                "ignore_too_many_redirects", "ignore_incomplete_reads", "suppress_errors", "suppress_error_ended",
                "suppress_repeated_errors",
            ],
            "a source is failing after 'fails' polls in a row (3), and the rule 'failures' tells that once; remove the source there"
        ),
        (["ignore_cached", "no_conditional_request"], "requests are always conditional; there is no setting"),
        (
            [
                "browser", "wait_until", "wait_for", "wait_for_function", "wait_for_selector", "wait_for_timeout",
                "wait_for_url", "wait_for_navigation", "block_elements", "evaluate", "http_credentials",
                "ignore_default_args", "init_script", "initialization_js", "initialization_url", "referer", "switches",
                "user_data_dir",
            ], "no browser is run"
        ),
        (
            [
                "http_client", "http_version", "impersonate", "fingerprints", "retries", "no_redirects",
                "empty_as_transient",
            ], "there is no such setting"
        ),
        (["stderr"], "only standard output is read; write '2>&1' into the command for both"),
    ]

    /// Returns a sentence for the settings of each reason.
    /// - Parameter job: the job's settings; those that are switched off say nothing.
    static func notes(_ job: JSON) -> [String] {
        let set = (job.members ?? []).filter { JobValue.isSet($0.value) && !read.contains($0.name) }.map(\.name)
        var notes: [String] = []
        for group in groups {
            let names = set.filter(group.names.contains)
            if !names.isEmpty { notes.append(note(names, group.reason)) }
        }
        let known = Set(groups.flatMap(\.names))
        let unknown = set.filter { !known.contains($0) }
        if !unknown.isEmpty { notes.append(note(unknown, "it is unknown here; look for its equal in Configuration")) }
        return notes
    }

    private static func note(_ names: [String], _ reason: String) -> String {
        "left out \(names.map(quoted).joined(separator: " and ")): \(reason)"
    }
}
