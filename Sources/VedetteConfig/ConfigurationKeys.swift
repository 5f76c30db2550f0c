// SPDX-License-Identifier: Apache-2.0

/// The tables of keys. The options of kinds are in the tables of kinds.
public enum ConfigurationKeys {
    /// The keys of a file.
    public static let top = [
        KeySpec("servers", "map", "Connection settings, by name."),
        KeySpec("sources", "map", "Sources that are polled, by name."),
        KeySpec("sinks", "map", "Sinks that get messages, by name."),
        KeySpec("rules", "list", "Which events matter, and to whom."),
        KeySpec("settings", "map", "Settings of the whole program."),
        KeySpec("windows", "map", "Times of day, by name, for `quiet`."),
    ]

    /// The keys of a server.
    public static let server = [
        KeySpec("url", "URL", "The base that a source's `path` starts from.", required: true),
        KeySpec("user", "text", "For basic or digest authentication, with `password`."),
        KeySpec("password", "secret", "For basic or digest authentication, with `user`."),
        KeySpec("auth", "basic | digest", "How `user` and `password` are sent.", default: "basic"),
        KeySpec("netrc", "true or file", "User and password of this host are in `~/.netrc` or in that file."),
        KeySpec("token", "secret", "Sent as `Authorization: Bearer`."),
        KeySpec("query", "map of one secret", "A parameter that is added to the URL of each request."),
        KeySpec("oauth2", "map", "Client credentials for a token, which is fetched, cached and renewed."),
        KeySpec("aws", "map", "Keys that requests are signed with, by AWS Signature Version 4."),
        KeySpec("session", "map", "How a session begins: with a login form, or with a header that a refusal gives."),
        KeySpec("tls", "map", "How the server's certificate is verified, and which client certificate is sent."),
        KeySpec(
            "proxy", "none, URL or map", "The proxy for the requests.", default: "the environment's `https_proxy` …"),
        KeySpec("cookies", "none | memory | journal", "How long cookies live.", default: "memory"),
        KeySpec("rate", "map", "A limit of requests in a time."),
        KeySpec("concurrency", "number", "Requests in flight at once, 1 to 8.", default: "8"),
        KeySpec(
            "allow_private", "true | false", "Redirects and links may lead from a public host to a private address.",
            default: "false"),
        KeySpec("headers", "map of texts or secrets", "Sent with every request; they replace those of the kind."),
        KeySpec(
            "user_agent", "text", "The User-Agent that the server sees.", default: "the kind's, else Vedette's own"),
    ]

    /// The keys of a server that are ways to authenticate; it has at most one of them.
    static let authentications = ["user", "netrc", "token", "query", "oauth2", "aws"]

    /// The keys of `aws`.
    public static let aws = [
        KeySpec("region", "text", "The region, as `eu-central-1`.", required: true),
        KeySpec("service", "text", "The service, as `ec2`.", required: true),
        KeySpec("key_id", "text", "The id of the access key.", required: true),
        KeySpec("secret_key", "secret", "The secret access key.", required: true),
    ]

    /// The keys of `session`.
    public static let session = [
        KeySpec("login", "path or URL", "The page of the login form, on the origin of the server."),
        KeySpec("fields", "map of texts or secrets", "The fields of the form that a person fills in."),
        KeySpec("header", "text", "A header that a refusal gives and that further requests repeat."),
        KeySpec("from", "number", "The status of the response that gives its value.", default: "409"),
    ]

    /// The keys of `oauth2`.
    public static let oauth2 = [
        KeySpec("token_url", "URL", "The token endpoint.", required: true),
        KeySpec("client_id", "text", "The client's id.", required: true),
        KeySpec("client_secret", "secret", "The client's secret.", required: true),
        KeySpec("scope", "text or list", "The scope of the token."),
        KeySpec("audience", "text", "The audience of the token, if the server requires it."),
        KeySpec(
            "in_body", "true | false", "Send id and secret in the body instead of by basic authentication.",
            default: "false"),
    ]

    /// The keys of `tls`.
    public static let tls = [
        KeySpec("ca", "file", "PEM certificates to trust instead of the system's."),
        KeySpec("pin", "text", "`sha256//` and the base64 SHA-256 of the public key, several with `;`."),
        KeySpec("insecure", "true", "Verify nothing; shown in `status`."),
        KeySpec("certificate", "file", "The client certificate in PEM, if the server requires one."),
        KeySpec("key", "file", "The key of `certificate`.", default: "in the same file"),
        KeySpec("minimum", "1.0 | 1.1 | 1.2 | 1.3", "The oldest version to accept.", default: "1.2"),
    ]

    /// The keys of `proxy`.
    public static let proxy = [
        KeySpec("url", "URL", "With `http`, `https`, `socks5h` or `socks4a`.", required: true),
        KeySpec("user", "text", "For the proxy, with `password`."),
        KeySpec("password", "secret", "For the proxy, with `user`."),
    ]

    /// The keys of `rate`.
    public static let rate = [
        KeySpec("count", "number", "How many, evenly spread.", required: true),
        KeySpec("per", "duration", "The time.", required: true),
    ]

    private static let watcher = KeySpec(
        "watcher", "text", "The only one of several watchers that uses it, by its name in `settings`.", default: "any")

    /// The keys of every source.
    public static let source = [
        KeySpec("kind", "text", "How it is requested and read.", required: true),
        KeySpec("server", "text", "The server it is on."),
        KeySpec(
            "path", "text", "The path on the server: from the root with a leading `/`, else below the server's URL."),
        KeySpec("url", "URL", "Instead of `server` and `path`."),
        KeySpec("command", "list of texts", "A program and its arguments, whose output is read instead of a URL."),
        KeySpec("every", "duration", "How often it is polled, jittered by 10 %.", default: "the kind's: 60s or 30m"),
        KeySpec("while", "map", "Polls at another interval while any item is in one of the states."),
        KeySpec(
            "stream", "true | false | map", "Records are read as the server pushes them, over a kept connection.",
            default: "false"),
        KeySpec("fails", "number", "Failed polls in a row that make it `failing`.", default: "3"),
        KeySpec("first", "baseline | announce", "What to do with the items of the first poll.", default: "baseline"),
        KeySpec("empty", "suspect | valid", "What an empty list means after one with items.", default: "suspect"),
        watcher,
        KeySpec("user_agent", "text", "The User-Agent that the server sees.", default: "the server's"),
        KeySpec("headers", "map of texts or secrets", "Sent with every request; they replace those of the server."),
        KeySpec(
            "allow_private", "true | false", "Redirects and links may lead from a public host to a private address.",
            default: "the server's"),
    ]

    /// The keys of `stream`.
    public static let stream = [
        KeySpec(
            "format", "events | lines", "Server-sent events, or one record a line.",
            default: "by the media type of the response"),
        KeySpec("keep_alive", "duration", "A connection without a byte for this long has failed.", default: "90s"),
        KeySpec(
            "initial", "duration",
            "The server begins with everything that exists; a pause of this length ends that."),
        KeySpec("resume", "text", "Path of the id behind which reading resumes.", default: "the id of the event"),
        KeySpec(
            "parameter", "text", "The query parameter that takes that id.", default: "the header `Last-Event-ID`"),
        KeySpec(
            "only", "map", "What a record with an item has: path to value or values; `$event` is the event's name."),
        KeySpec("delete", "map", "What a record has that removes its item."),
        KeySpec("bookmark", "map", "What a record has that brings only an id to resume behind."),
        KeySpec("expired", "map", "What a record has that reports that the id is too old."),
    ]

    /// The keys of `while`.
    public static let interval = [
        KeySpec("state", "text or list", "While any item is in one of these states.", required: true),
        KeySpec("every", "duration", "The interval meanwhile.", required: true),
    ]

    /// The keys of every sink.
    public static let sink = [
        KeySpec("kind", "text", "The kind of the receiver.", required: true),
        KeySpec("concurrency", "number", "Messages in flight at once, 1 to 4.", default: "4"),
        KeySpec("rate", "map", "A limit of messages in a time."),
        KeySpec(
            "parallel", "true | false", "Messages of one source may arrive out of order, so that a retry delays none.",
            default: "false"),
        KeySpec("give_up", "duration", "The age at which a pending message is dead.", default: "that of `settings`"),
        KeySpec("queue", "map", "How much may be pending for it."),
        KeySpec(
            "group", "true | false",
            "Whether what a gate held of several items is one message to a sink that passes on events.",
            default: "false"),
        KeySpec(
            "else", "text or list",
            "Sinks that get what cannot be delivered here: the first one, then the next if it dies there, too."),
        KeySpec(
            "else_after", "duration", "How long it may fail before the sinks of `else` get its messages.",
            default: "5m, at most `give_up`"),
        watcher,
    ]

    /// The keys of `queue`.
    public static let queue = [
        KeySpec("count", "number", "The number of messages.", default: "250000"),
        KeySpec("size", "size", "The size of texts and events.", default: "500MB"),
        KeySpec(
            "full", "drop_oldest | drop_newest", "Which messages die when there are more.",
            default: "drop_oldest"),
    ]

    /// The keys of a rule.
    public static let rule = [
        KeySpec("name", "text", "Unique over all files.", required: true),
        KeySpec("was", "text", "The name that the rule had before, so that it knows what it told under that name."),
        KeySpec("when", "map", "Which events match.", required: true),
        KeySpec("stop", "true | false", "A match ends the evaluation of further rules.", default: "false"),
        KeySpec("priority", "low | normal | high", "How urgent the message is.", default: "normal"),
        KeySpec("notify", "list", "The sinks: a name, or `name: {text, title}`."),
        KeySpec("tags", "text or list", "Labels that a sink may show."),
        KeySpec("for", "duration", "The match must stay true this long.", default: "0s"),
        KeySpec(
            "depends", "text or list",
            "Sources; while one of them is failing or down, messages are held. What is still so is sent after it."),
        KeySpec("quiet", "map", "Times in which not to disturb."),
        KeySpec("during", "text or list", "Names of windows; outside of them it is quiet.", default: "at any time"),
        KeySpec("if", "map or list", "What the last good poll of another source must show."),
        KeySpec("unless", "map or list", "What the last good poll of another source must not show."),
        KeySpec("at_least", "map", "How many matches make a message."),
        KeySpec("nothing", "duration", "Sends a message when nothing matched for this long."),
        KeySpec("once_per", "text", "A field of the item; one message is sent per value."),
        KeySpec("digest", "map", "Several events in one message."),
        KeySpec(
            "limit", "map", "A limit of messages in a time; what exceeds it ends in one message with the latest state."),
        KeySpec(
            "resolved", "true | false, or map", "Sends the end of each match that the rule announced, and of no other.",
            default: "false"),
        KeySpec(
            "recovered_for", "duration", "A match must stay over this long before `resolved` tells its end.",
            default: "0s"),
        KeySpec("remind", "map", "Repeats the message while the match is true."),
        KeySpec("escalate", "list", "Further sinks when the match is still true after a while."),
        KeySpec("tests", "list", "Examples that `check` runs."),
    ]

    /// The keys of `quiet`.
    public static let quiet = [
        KeySpec("during", "text or list", "Names of windows; required unless the rule has `during`."),
        KeySpec("then", "drop | defer | digest", "What to do with a match.", default: "defer"),
    ]

    /// The keys of `limit`.
    public static let limit = [
        KeySpec("count", "number", "The number of messages.", required: true),
        KeySpec("per", "duration", "The length of a sliding window.", required: true),
        KeySpec("by", "rule | item | field", "Which messages count together.", default: "item"),
    ]

    /// The keys of `if` and `unless`.
    public static let sourceCondition = [
        KeySpec("source", "text", "The source.", required: true),
        KeySpec("item", "map", "Fields of the item and what they must be.", default: "any item"),
        KeySpec("field", "text", "The field that is compared.", default: "state"),
        KeySpec("is", "value, list or map", "What it must be.", required: true),
        KeySpec(
            "drop", "true | false", "Whether a state that it withholds is dropped, and not told later.",
            default: "false"),
    ]

    /// The keys of `how_many`.
    public static let howMany = [
        KeySpec("state", "value, list or map", "The state of the items that count."),
        KeySpec("field", "text", "Another field, with `is`."),
        KeySpec("is", "value, list or map", "The value of `field`."),
        KeySpec("below", "number", "Fewer items than this."),
        KeySpec("above", "number", "More items than this."),
    ]

    /// The keys of `at_least`.
    public static let atLeast = [
        KeySpec("count", "number", "The number of matches, 2 to 1000.", required: true),
        KeySpec("per", "duration", "The span in which they come.", required: true),
        KeySpec("by", "rule | item | field", "Which matches count together.", default: "rule"),
    ]

    /// The keys of `digest`.
    public static let digest = [
        KeySpec("every", "duration", "This long after the first event."),
        KeySpec("at", "time of day", "At this time of day, as \"08:30\"."),
        KeySpec("days", "text or list", "The days of `at`: mon to sun, or spans as mon-fri.", default: "all"),
        KeySpec("tz", "text", "The time zone of `at`.", default: "the machine's"),
        KeySpec("by", "rule | item | field", "Which events go into one message.", default: "rule"),
    ]

    /// The keys of `remind`.
    public static let remind = [
        KeySpec("every", "duration", "The interval between messages.", required: true),
        KeySpec(
            "until", "text or list", "Values of the rule's field that end the reminders.",
            default: "until the match ends"),
    ]

    /// The keys of `resolved`.
    public static let resolved = [
        KeySpec(
            "title", "template or same", "The title of the end.",
            default: "the match's if it shows what is so now, else the usual one"),
        KeySpec(
            "text", "template or same", "The text of the end.",
            default: "the match's if it shows what is so now, else the usual one"),
        KeySpec(
            "priority", "low | normal | high", "How urgent the end is.",
            default: "the rule's with the match's title, else at most `normal`"),
        KeySpec("notify", "text or list", "The sinks that get the end.", default: "those that got the match"),
    ]

    /// The keys of a step of `escalate`.
    public static let escalation = [
        KeySpec("after", "duration", "The time since the first message.", required: true),
        KeySpec("notify", "list", "The further sinks.", required: true),
    ]

    /// The keys of a window.
    public static let window = [
        KeySpec("daily", "text or list", "A span of the day, as \"22:00-07:00\".", default: "the whole day"),
        KeySpec("days", "text or list", "Days on which it starts: mon to sun, or spans as mon-fri.", default: "all"),
        KeySpec("from", "text", "The first moment, as 2026-12-24 or 2026-12-24 18:00."),
        KeySpec("until", "text", "The first moment after it, as 2027-01-02 or 2027-01-02 06:00."),
        KeySpec("repeat", "text", "Days on which it starts, as a rule of RFC 5545 that counts from the day of 'from'."),
        KeySpec("tz", "text", "A time zone, as Europe/Vienna.", default: "the machine's"),
    ]

    /// The keys of a test of a rule.
    public static let test = [
        KeySpec("change", "map", "An item changed: field to value, or to [from, to]."),
        KeySpec("appears", "map", "An item is new: its fields."),
        KeySpec("disappears", "map", "An item is gone: its fields."),
        KeySpec(
            "source_state", "failing | recovered | stale | suspect | offline | online",
            "The source's own health changed."),
        KeySpec("sink_state", "paused | disabled", "A sink is paused until a person acts."),
        KeySpec("source", "text", "The source of the event.", default: "one of the rule's"),
        KeySpec("given", "list", "What other sources show: `source` and fields of an item."),
        KeySpec("times", "number", "How often the event comes, a second apart.", default: "1"),
        KeySpec("at", "time of day", "The time of day of the event.", default: "12:00"),
        KeySpec("lasts", "duration", "How long the match stays true.", default: "0s"),
        KeySpec(
            "expect", "sinks, or nothing | held | deferred | digest | suppressed", "What the rule does.", required: true
        ),
    ]

    /// The keys of a test that are its event; it has exactly one of them.
    static let testEvents = ["change", "appears", "disappears", "source_state", "sink_state"]

    /// The keys of a sink under `notify`.
    public static let notice = [
        KeySpec("text", "template", "The message.", default: "made from the event"),
        KeySpec("title", "template", "Its title.", default: "made from the event"),
    ]

    /// The keys of `when` that select events; a rule has exactly one of them.
    static let eventConditions = [
        "field", "appears", "disappears", "changes", "stays", "how_many", "source_state", "sink_state",
    ]

    /// The keys of `when`.
    public static let when = [
        KeySpec("source", "text or list", "Names or globs of sources.", default: "all"),
        KeySpec("item", "map", "Fields of the item and what they must be."),
        KeySpec("where", "map", "Same as `item`."),
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
            "A sink refuses messages (401, 403), or is gone for good (410), and is paused until `outbox retry`."),
        KeySpec("all", "list of maps", "Each of these matches."),
        KeySpec("any", "list of maps", "One of these matches."),
        KeySpec("not", "map", "This does not match."),
        KeySpec("by", "number or percent", "By how much the number of `field` changed: 10, 5%, +5% up, -10 down."),
        KeySpec(
            "compare", "told | previous",
            "What `by` compares with: the value announced last, or that of the poll before.",
            default: "told"),
        KeySpec("older", "duration", "The time in `field` is longer ago than this."),
        KeySpec("how_many", "map", "The number of items of `source` with that value crosses a bound."),
        KeySpec("stays", "value, list or map", "`field` (or the state) has that value for as long as `for` says."),
    ]

    /// The keys of a matcher.
    public static let matcher = [
        KeySpec("glob", "text", "`*` any run, `?` one character, `[a-z]` one of a set."),
        KeySpec("regex", "text", "A regular expression (PCRE2), found anywhere."),
        KeySpec("contains", "text", "Found anywhere."),
        KeySpec("above", "number", "A number above it."),
        KeySpec("below", "number", "A number below it."),
        KeySpec("not", "value, list or map", "Not this."),
    ]

    /// The keys of `settings`.
    public static let settings = [
        KeySpec("retain", "map", "What the journal keeps; pending messages are never pruned."),
        KeySpec("give_up", "duration", "The age at which a pending message is dead.", default: "72h"),
        KeySpec("journal", "map", "A PostgreSQL database for the journal.", default: "SQLite in the state directory"),
        KeySpec(
            "watcher", "text", "The name of this watcher among several on one PostgreSQL.", default: "the host's name"),
        KeySpec("heartbeat", "map", "Requests to a monitor that tells somebody when they stop."),
        KeySpec("listen", "address or map", "Where the page and the metrics are offered.", default: "nowhere"),
        KeySpec(
            "public_url", "text", "Where people open the page; a message that is cut names its event's address there."),
    ]

    /// The keys of `listen`.
    public static let listen = [
        KeySpec("address", "text", "`IP:PORT`, `unix:/PATH`, or `systemd` for the socket of a unit.", required: true),
        KeySpec("token", "secret", "What clients must show; other machines need one."),
        KeySpec("hosts", "list", "Names under which a proxy offers the page."),
    ]

    /// The keys of `heartbeat`.
    public static let heartbeat = [
        KeySpec("url", "secret", "Where to, as the monitor gives it.", required: true),
        KeySpec("every", "duration", "The interval between requests, from 10s.", default: "5m"),
        KeySpec("method", "GET | POST | HEAD", "The method of the requests.", default: "GET"),
        KeySpec("token", "secret", "Sent as `Authorization: Bearer`."),
    ]

    /// The keys of `retain`.
    public static let retain = [
        KeySpec("events", "duration", "How long events are kept.", default: "30d"),
        KeySpec("size", "size", "How large the journal may grow.", default: "1GB"),
    ]

    /// The keys of `journal`.
    public static let journal = [
        KeySpec(
            "postgres", "text",
            "Where the database is, as libpq reads it: `host=db dbname=vedette` or `postgres://db/vedette`.",
            required: true),
        KeySpec("password", "secret", "The user's password.", default: "none, or that of libpq's `passfile`"),
    ]

    /// The keys of a secret.
    public static let secret = [
        KeySpec("env", "text", "The name of an environment variable."),
        KeySpec("file", "file", "A file with the secret."),
        KeySpec(
            "credential", "text",
            "A file of that name in `$CREDENTIALS_DIRECTORY`, else what `vedette login` stored under it."),
        KeySpec("command", "list", "A program and its arguments; the secret is the first line of its output."),
    ]
}
