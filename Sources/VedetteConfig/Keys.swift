// SPDX-License-Identifier: Apache-2.0

/// One key of the configuration, as data: the parser takes no other key, and documentation and schema are made from the
/// same rows.
public struct KeySpec: Sendable, Hashable {
    public var name: String
    /// What is written behind it, in words.
    public var type: String
    /// One sentence.
    public var summary: String
    /// As it is written; nil when absence has no stand-in.
    public var standard: String?
    public var isRequired: Bool
    /// Known, but for a later version: a clear error instead of a suggestion.
    public var isPlanned: Bool

    init(
        _ name: String, _ type: String, _ summary: String, standard: String? = nil, required: Bool = false,
        planned: Bool = false
    ) {
        (self.name, self.type, self.summary) = (name, type, summary)
        (self.standard, isRequired, isPlanned) = (standard, required, planned)
    }

    static func planned(_ name: String, _ type: String, _ summary: String) -> KeySpec {
        KeySpec(name, type, summary, planned: true)
    }
}

/// The tables of keys; the options of kinds stand in the tables of kinds.
public enum Keys {
    public static let top = [
        KeySpec("servers", "map", "Connection settings, by name."),
        KeySpec("sources", "map", "What is polled, by name."),
        KeySpec("sinks", "map", "Where messages go, by name."),
        KeySpec("rules", "list", "Which events matter, and to whom."),
        KeySpec("settings", "map", "What holds for the whole program."),
        .planned("windows", "map", "Times of day, by name."),
    ]

    public static let server = [
        KeySpec("url", "URL", "The base that a source's `path` starts from.", required: true),
        KeySpec("user", "text", "For basic authentication, with `password`."),
        KeySpec("password", "secret", "For basic authentication, with `user`."),
        KeySpec("tls", "map", "How the server's certificate is judged."),
        KeySpec("headers", "map of texts or secrets", "Sent with every request; they replace those of the kind."),
        KeySpec(
            "user_agent", "text", "The User-Agent that the server sees.", standard: "the kind's, else Vedette's own"),
    ]

    public static let tls = [
        KeySpec("ca", "file", "PEM certificates that are trusted instead of the system's."),
        KeySpec("pin", "text", "`sha256//` and the base64 SHA-256 of the public key, several with `;`."),
        KeySpec("insecure", "true", "No check at all; shown in `status`."),
    ]

    public static let source = [
        KeySpec("kind", "text", "How it is asked and read.", required: true),
        KeySpec("server", "text", "The server it is on."),
        KeySpec("path", "text", "On the server, from the root with a leading `/`, else below the server's URL."),
        KeySpec("url", "URL", "Instead of `server` and `path`."),
        KeySpec("every", "duration", "How often it is polled, jittered by 10 %.", standard: "the kind's: 60s or 30m"),
        KeySpec("while", "map", "Polls at another pace while any item is in one of the states."),
        KeySpec("fails", "number", "Failed polls in a row that make it `failing`.", standard: "3"),
        KeySpec("first", "baseline | announce", "What becomes of what the first poll finds.", standard: "baseline"),
        KeySpec("empty", "suspect | valid", "What an empty list means after one with items.", standard: "suspect"),
        KeySpec("user_agent", "text", "The User-Agent that the server sees.", standard: "the server's"),
        KeySpec("headers", "map of texts or secrets", "Sent with every request; they replace those of the server."),
    ]

    public static let pace = [
        KeySpec("state", "text or list", "While any item is in one of these states.", required: true),
        KeySpec("every", "duration", "The pace meanwhile.", required: true),
    ]

    public static let sink = [KeySpec("kind", "text", "What takes the messages.", required: true)]

    public static let rule = [
        KeySpec("name", "text", "Unique over all files.", required: true),
        KeySpec("when", "map", "Which events match.", required: true),
        KeySpec("stop", "true | false", "A match ends the list of rules.", standard: "false"),
        KeySpec("priority", "low | normal | high", "How loud the message is.", standard: "normal"),
        KeySpec("notify", "list", "The sinks: a name, or `name: {text, title}`."),
        .planned("for", "duration", "Must stay true this long."),
        .planned("limit", "map", "At most so many messages."),
        .planned("quiet", "map", "When not to disturb."),
        .planned("digest", "map", "Several events in one message."),
        .planned("once_per", "text", "One message for each."),
        .planned("remind", "duration", "Says it again."),
        .planned("escalate", "map", "To whom next."),
        .planned("depends", "list", "Silent while these hold."),
        .planned("tests", "list", "Examples that `check` runs."),
    ]

    public static let notice = [
        KeySpec("text", "template", "The message.", standard: "made from the event"),
        KeySpec("title", "template", "Its title.", standard: "made from the event"),
    ]

    /// Of `when`: exactly one of these says which event.
    static let occasions = ["field", "appears", "disappears", "changes", "source_state"]

    public static let when = [
        KeySpec("source", "text or list", "Names or globs of sources.", standard: "all"),
        KeySpec("item", "map", "Fields of the item and what they must be."),
        KeySpec("where", "map", "The same as `item`."),
        KeySpec("field", "text", "A field changed."),
        KeySpec("from", "value, list or map", "What it was.", standard: "anything"),
        KeySpec("to", "value, list or map", "What it is now.", standard: "anything"),
        KeySpec("appears", "true", "An item is new."),
        KeySpec("disappears", "true", "An item is gone."),
        KeySpec("changes", "text or list", "One of these fields changed."),
        KeySpec("source_state", "failing | recovered | stale | suspect, or list", "The source's own health changed."),
        KeySpec("all", "list of maps", "Each of these holds."),
        KeySpec("any", "list of maps", "One of these holds."),
        KeySpec("not", "map", "This does not hold."),
        .planned("stays", "text", "A value that does not change."),
    ]

    public static let matcher = [
        KeySpec("glob", "text", "`*` any run, `?` one character, `[a-z]` one of a set."),
        KeySpec("regex", "text", "A regular expression (PCRE2), found anywhere."),
        KeySpec("contains", "text", "Found anywhere."),
        KeySpec("above", "number", "A number above it."),
        KeySpec("below", "number", "A number below it."),
    ]

    public static let settings = [
        KeySpec("retain", "map", "What the journal keeps; what is owed is never pruned."),
        KeySpec("give_up", "duration", "When a delivery that never succeeds is dead.", standard: "72h"),
        .planned("heartbeat", "map", "Somebody hears when the watcher itself dies."),
    ]

    public static let retain = [
        KeySpec("events", "duration", "How long events are kept.", standard: "30d"),
        KeySpec("size", "size", "How large the journal may grow."),
    ]

    public static let secret = [
        KeySpec("env", "text", "The name of an environment variable."),
        KeySpec("file", "file", "A file that holds it."),
        KeySpec("credential", "text", "A file of that name in `$CREDENTIALS_DIRECTORY`."),
        KeySpec("command", "list", "A program and its arguments; the first line of what it prints."),
    ]
}
