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
    public var documentedDefault: String?
    public var isRequired: Bool
    /// Known, but for a later version: a clear error instead of a suggestion.
    public var isPlanned: Bool

    init(
        _ name: String, _ type: String, _ summary: String, default: String? = nil, required: Bool = false,
        planned: Bool = false
    ) {
        (self.name, self.type, self.summary) = (name, type, summary)
        (documentedDefault, isRequired, isPlanned) = (`default`, required, planned)
    }

    static func planned(_ name: String, _ type: String, _ summary: String) -> KeySpec {
        KeySpec(name, type, summary, planned: true)
    }
}

/// The tables of keys; the options of kinds stand in the tables of kinds.
public enum ConfigurationKeys {
    public static let top = [
        KeySpec("servers", "map", "Connection settings, by name."),
        KeySpec("sources", "map", "What is polled, by name."),
        KeySpec("sinks", "map", "Where messages go, by name."),
        KeySpec("rules", "list", "Which events matter, and to whom."),
        KeySpec("settings", "map", "What holds for the whole program."),
        KeySpec("windows", "map", "Times of day, by name, for `quiet`."),
    ]

    public static let server = [
        KeySpec("url", "URL", "The base that a source's `path` starts from.", required: true),
        KeySpec("user", "text", "For basic or digest authentication, with `password`."),
        KeySpec("password", "secret", "For basic or digest authentication, with `user`."),
        KeySpec("auth", "basic | digest", "How `user` and `password` are sent.", default: "basic"),
        KeySpec("netrc", "true or file", "User and password of this host stand in `~/.netrc` or in that file."),
        KeySpec("token", "secret", "Sent as `Authorization: Bearer`."),
        KeySpec("query", "map of one secret", "A parameter that is added to each address as the request goes out."),
        KeySpec("oauth2", "map", "A token is fetched with client credentials, kept, and renewed."),
        KeySpec("tls", "map", "How the server's certificate is judged, and which one it is shown."),
        KeySpec(
            "proxy", "none, URL or map", "Who carries the requests.", default: "the environment's `https_proxy` …"),
        KeySpec("cookies", "none | memory | journal", "How long cookies live.", default: "memory"),
        KeySpec("rate", "map", "At most so many requests in a time."),
        KeySpec("concurrency", "number", "Requests in flight at once, 1 to 8.", default: "8"),
        KeySpec(
            "allow_private", "true | false", "Redirects and links may lead from a public host to a private address.",
            default: "false"),
        KeySpec("headers", "map of texts or secrets", "Sent with every request; they replace those of the kind."),
        KeySpec(
            "user_agent", "text", "The User-Agent that the server sees.", default: "the kind's, else Vedette's own"),
    ]

    /// Of a server: each is a way to say who asks, and one is enough.
    static let authentications = ["user", "netrc", "token", "query", "oauth2"]

    public static let oauth2 = [
        KeySpec("token_url", "URL", "Where the token is asked for.", required: true),
        KeySpec("client_id", "text", "Who asks for it.", required: true),
        KeySpec("client_secret", "secret", "The client's password.", required: true),
        KeySpec("scope", "text or list", "What the token is for."),
        KeySpec("audience", "text", "Whom the token is for, where the server asks for that."),
        KeySpec(
            "in_body", "true | false", "Id and secret go in the body instead of basic authentication.",
            default: "false"),
    ]

    public static let tls = [
        KeySpec("ca", "file", "PEM certificates that are trusted instead of the system's."),
        KeySpec("pin", "text", "`sha256//` and the base64 SHA-256 of the public key, several with `;`."),
        KeySpec("insecure", "true", "No check at all; shown in `status`."),
        KeySpec("certificate", "file", "Our own certificate in PEM, for a server that asks for one."),
        KeySpec("key", "file", "The key of `certificate`.", default: "in the same file"),
        KeySpec("minimum", "1.0 | 1.1 | 1.2 | 1.3", "The oldest version that is spoken.", default: "1.2"),
    ]

    public static let proxy = [
        KeySpec("url", "URL", "With `http`, `https`, `socks5h` or `socks4a`.", required: true),
        KeySpec("user", "text", "For the proxy alone, with `password`."),
        KeySpec("password", "secret", "For the proxy alone, with `user`."),
    ]

    public static let rate = [
        KeySpec("count", "number", "So many requests, evenly spread.", required: true),
        KeySpec("per", "duration", "In so long.", required: true),
    ]

    public static let source = [
        KeySpec("kind", "text", "How it is asked and read.", required: true),
        KeySpec("server", "text", "The server it is on."),
        KeySpec("path", "text", "On the server, from the root with a leading `/`, else below the server's URL."),
        KeySpec("url", "URL", "Instead of `server` and `path`."),
        KeySpec("every", "duration", "How often it is polled, jittered by 10 %.", default: "the kind's: 60s or 30m"),
        KeySpec("while", "map", "Polls at another pace while any item is in one of the states."),
        KeySpec("fails", "number", "Failed polls in a row that make it `failing`.", default: "3"),
        KeySpec("first", "baseline | announce", "What becomes of what the first poll finds.", default: "baseline"),
        KeySpec("empty", "suspect | valid", "What an empty list means after one with items.", default: "suspect"),
        KeySpec("user_agent", "text", "The User-Agent that the server sees.", default: "the server's"),
        KeySpec("headers", "map of texts or secrets", "Sent with every request; they replace those of the server."),
        KeySpec(
            "allow_private", "true | false", "Redirects and links may lead from a public host to a private address.",
            default: "the server's"),
    ]

    public static let pace = [
        KeySpec("state", "text or list", "While any item is in one of these states.", required: true),
        KeySpec("every", "duration", "The pace meanwhile.", required: true),
    ]

    public static let sink = [
        KeySpec("kind", "text", "What takes the messages.", required: true),
        KeySpec("concurrency", "number", "Messages in flight at once, 1 to 4.", default: "4"),
        KeySpec("rate", "map", "At most so many messages in a time."),
        KeySpec(
            "parallel", "true | false", "Messages of one source may arrive out of order; a late one holds up none.",
            default: "false"),
        KeySpec("give_up", "duration", "When what is not delivered is dead.", default: "that of `settings`"),
        KeySpec("queue", "map", "How much may be owed to it."),
        KeySpec("else", "text or list", "Sinks that get what dies here: the first, then, if it dies there, the next."),
    ]

    public static let queue = [
        KeySpec("count", "number", "So many messages.", default: "250000"),
        KeySpec("size", "size", "So much of texts and events.", default: "500MB"),
        KeySpec(
            "full", "drop_oldest | drop_newest", "Which messages are dead when there are more.",
            default: "drop_oldest"),
    ]

    public static let rule = [
        KeySpec("name", "text", "Unique over all files.", required: true),
        KeySpec("when", "map", "Which events match.", required: true),
        KeySpec("stop", "true | false", "A match ends the list of rules.", default: "false"),
        KeySpec("priority", "low | normal | high", "How loud the message is.", default: "normal"),
        KeySpec("notify", "list", "The sinks: a name, or `name: {text, title}`."),
        KeySpec("tags", "text or list", "Words that a sink may show as labels."),
        KeySpec("for", "duration", "The match must stay true this long.", default: "0s"),
        KeySpec("depends", "text or list", "Sources: while one of them is failing, the rule is silent."),
        KeySpec("quiet", "map", "When not to disturb."),
        KeySpec("once_per", "text", "A field of the item; each of its values is spoken of once."),
        KeySpec("digest", "map", "Several events in one message."),
        KeySpec("limit", "map", "At most so many messages; what is held back ends in one with the latest state."),
        KeySpec("remind", "map", "Says it again while it is so."),
        KeySpec("escalate", "list", "Who else hears of it when it is still so after a while."),
        KeySpec("tests", "list", "Examples that `check` plays."),
    ]

    public static let quiet = [
        KeySpec("during", "text or list", "Names of windows.", required: true),
        KeySpec("then", "drop | defer | digest", "What becomes of it.", default: "defer"),
    ]

    public static let limit = [
        KeySpec("count", "number", "So many messages.", required: true),
        KeySpec("per", "duration", "In so long, at any time.", required: true),
        KeySpec("by", "rule | item | field", "What counts together.", default: "item"),
    ]

    public static let digest = [
        KeySpec("every", "duration", "So long after the first event."),
        KeySpec("at", "time of day", "At that time, as \"08:30\"."),
        KeySpec("tz", "text", "The time zone of `at`.", default: "the machine's"),
        KeySpec("by", "rule | item | field", "What goes into one message.", default: "rule"),
    ]

    public static let remind = [
        KeySpec("every", "duration", "So long after the last word.", required: true),
        KeySpec(
            "until", "text or list", "Values of the rule's field that end it.", default: "until it is no longer so"),
    ]

    public static let escalation = [
        KeySpec("after", "duration", "Since it was first said.", required: true),
        KeySpec("notify", "list", "The sinks that hear of it then.", required: true),
    ]

    public static let window = [
        KeySpec("daily", "text or list", "A span of the day as \"22:00-07:00\".", default: "the whole day"),
        KeySpec("days", "text or list", "Days on which it starts: mon to sun, spans as mon-fri.", default: "all"),
        KeySpec("tz", "text", "A time zone as Europe/Vienna.", default: "the machine's"),
    ]

    public static let test = [
        KeySpec("change", "map", "An item changed: field to value, or to [from, to]."),
        KeySpec("appears", "map", "An item is new: its fields."),
        KeySpec("disappears", "map", "An item is gone: its fields."),
        KeySpec(
            "source_state", "failing | recovered | stale | suspect | offline | online",
            "The source's own health changed."),
        KeySpec("sink_state", "paused | disabled", "A sink rests until a person acts."),
        KeySpec("source", "text", "Of which source.", default: "one of the rule's"),
        KeySpec("at", "time of day", "When it happens.", default: "12:00"),
        KeySpec("lasts", "duration", "How long it stays so.", default: "0s"),
        KeySpec(
            "expect", "sinks, or nothing | held | deferred | digest | suppressed", "What comes of it.", required: true),
    ]

    /// Of a test: exactly one of these says what happens.
    static let happenings = ["change", "appears", "disappears", "source_state", "sink_state"]

    public static let notice = [
        KeySpec("text", "template", "The message.", default: "made from the event"),
        KeySpec("title", "template", "Its title.", default: "made from the event"),
    ]

    /// Of `when`: exactly one of these says which event.
    static let occasions = [
        "field", "appears", "disappears", "changes", "stays", "source_state", "sink_state",
    ]

    public static let when = [
        KeySpec("source", "text or list", "Names or globs of sources.", default: "all"),
        KeySpec("item", "map", "Fields of the item and what they must be."),
        KeySpec("where", "map", "The same as `item`."),
        KeySpec("field", "text", "A field changed."),
        KeySpec("from", "value, list or map", "What it was.", default: "anything"),
        KeySpec("to", "value, list or map", "What it is now.", default: "anything"),
        KeySpec("appears", "true", "An item is new."),
        KeySpec("disappears", "true", "An item is gone."),
        KeySpec("changes", "text or list", "One of these fields changed."),
        KeySpec(
            "source_state", "failing | recovered | stale | suspect | offline | online, or list",
            "The source's own health changed."),
        KeySpec(
            "sink_state", "paused | disabled, or list",
            "A sink refuses messages (401, 403), or is gone for good (410), and rests until `outbox retry`."),
        KeySpec("all", "list of maps", "Each of these holds."),
        KeySpec("any", "list of maps", "One of these holds."),
        KeySpec("not", "map", "This does not hold."),
        KeySpec("by", "number or percent", "By how much the number of `field` changed: 10, 5%, +5% up, -10 down."),
        KeySpec("stays", "value, list or map", "`field` (or the state) has that value for as long as `for` says."),
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
        KeySpec("give_up", "duration", "When a delivery that never succeeds is dead.", default: "72h"),
        .planned("heartbeat", "map", "Somebody hears when the watcher itself dies."),
    ]

    public static let retain = [
        KeySpec("events", "duration", "How long events are kept.", default: "30d"),
        KeySpec("size", "size", "How large the journal may grow."),
    ]

    public static let secret = [
        KeySpec("env", "text", "The name of an environment variable."),
        KeySpec("file", "file", "A file that holds it."),
        KeySpec("credential", "text", "A file of that name in `$CREDENTIALS_DIRECTORY`."),
        KeySpec("command", "list", "A program and its arguments; the first line of what it prints."),
    ]
}
