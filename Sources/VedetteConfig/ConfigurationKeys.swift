// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The tables of keys: each key with its type, from which its reading, its part of the schema and suggestions follow. The
/// options of kinds are in the tables of kinds.
enum ConfigurationKeys {
    typealias Key = OptionSpec

    /// The keys of a file.
    static let top = [
        Key("servers", .map(.object(server)), "Connection settings, by name."),
        Key("sources", .map(.object(source)), "Sources that are polled, by name."),
        Key("sinks", .map(.object(sink)), "Sinks that get messages, by name."),
        Key("rules", .list(.object(rule)), "Which events matter, and to whom."),
        Key("settings", .object(settings), "Settings of the whole program."),
        Key("windows", .map(.object(window)), "Times of day, by name, for `quiet`."),
    ]

    static let server = [
        Key("url", .url, "The base that a source's `path` starts from.", required: true),
        Key("user", .line, "For basic or digest authentication, with `password`."),
        Key("password", .secret, "For basic or digest authentication, with `user`."),
        Key("auth", .choice(["basic", "digest"]), "How `user` and `password` are sent.", default: "basic"),
        Key("netrc", .text, "User and password of this host are in `~/.netrc` or in that file."),
        Key("token", .secret, "Sent as `Authorization: Bearer`."),
        Key("query", .map(.secret), "A parameter that is added to the URL of each request."),
        Key("oauth2", .object(oauth2), "What a token is asked for with; it is fetched, cached and renewed."),
        Key("aws", .object(aws), "Keys that requests are signed with, by AWS Signature Version 4."),
        Key(
            "session", .object(session),
            "How a session begins: with a login form, a POST that gives a token, or a header that a refusal gives."),
        Key("tls", .tls, "How the server's certificate is verified, and which client certificate is sent."),
        Key(
            "proxy", .either(.text, .object(proxy)), "The proxy for the requests.",
            otherwise: "the environment's `https_proxy` …"),
        Key("cookies", .cases(of: CookiePolicy.self), "How long cookies live.", default: "memory"),
        Key("rate", .object(rate), "A limit of requests in a time."),
        Key(
            "concurrency", .integer(1...OriginLimits.maximumConcurrency), "Requests in flight at once, 1 to 8.",
            default: "8"),
        Key(
            "allow_private", .flag, "Redirects and links may lead from a public host to a private address.",
            default: "false"),
        Key("headers", .headers, "Sent with every request; they replace the kind's headers."),
        Key("user_agent", .line, "The User-Agent that the server sees.", otherwise: "the kind's, else Vedette's own"),
    ]

    static let tls = [
        Key("ca", .text, "PEM certificates to trust instead of the system's."),
        Key("pin", .text, "`sha256//` and the base64 SHA-256 of the public key, several with `;`."),
        Key("insecure", .flag, "Verify nothing; shown in `status`."),
        Key("certificate", .text, "The client certificate in PEM, if the server requires one."),
        Key("key", .text, "The key of `certificate`.", otherwise: "in the same file"),
        Key("minimum", .cases(of: TLSPolicy.Version.self), "The oldest version to accept.", default: "1.2"),
    ]

    static let proxy = [
        Key("url", .text, "Its address, with `http`, `https`, `socks5h` or `socks4a`.", required: true),
        Key("user", .line, "For the proxy, with `password`."),
        Key("password", .secret, "For the proxy, with `user`."),
    ]

    static let rate = [
        Key("count", .integer(1...1_000_000), "How many, evenly spread.", required: true),
        Key("per", .duration(atLeast: .milliseconds(1)), "The time.", required: true),
    ]

    private static let watcher = Key(
        "watcher", .text, "The only one of several watchers that uses it, by its name in `settings`.", otherwise: "any")

    /// The keys of every source.
    static let source = [
        Key("kind", .text, "How it is requested and read.", required: true),
        Key(
            SourceExpansion.key, .either(.list(.map(.text)), .map(.oneOrMany(.text))),
            "Makes a source of each value: `site-{{host}}` with {host: [a, b]}. Of several names every combination counts; a list of maps has the combinations."
        ),
        Key("server", .text, "The server it is on."),
        Key("path", .text, "The path on the server: from the root with a leading `/`, else below the server's URL."),
        Key("url", .text, "Instead of `server` and `path`."),
        Key("command", .list(.text), "A program and its arguments, whose output is read instead of a URL."),
        Key(
            "every", .duration(atLeast: PollInterval.shortest), "How often it is polled, jittered by 10 %.",
            otherwise: "the kind's: 60s or 30m"),
        Key(
            "at", .oneOrMany(.text),
            "Times at which it is polled, as 08:00, \"mon-fri 17:30\" or \"sat 9:00 Europe/Vienna\"; instead of `every`."
        ),
        Key(
            "during", .oneOrMany(.text), "Names of windows; outside of them it is not polled.", otherwise: "at any time"
        ),
        Key("while", .object(interval), "Polls at another interval while any item is in one of the states."),
        Key(
            "stream", .either(.flag, .object(stream)),
            "Records are read as the server pushes them, over a kept connection.", default: "false"),
        Key("fails", .integer(1...1000), "Failed polls in a row that make it `failing`.", default: "3"),
        Key(
            "first", .cases(of: Source.First.self), "What to do with the items of the first poll.", default: "baseline"),
        Key(
            "empty", .cases(of: Source.Empty.self), "What an empty list means after one with items.", default: "suspect"
        ),
        Key(
            "replace", .list(.object(TextFilter.replaceKeys)),
            "What is replaced in texts before they are compared, in this order."),
        Key("ignore", .list(.object(TextFilter.ignoreKeys)), "What is removed from texts before they are compared."),
        Key(
            "sort", .flag, "The order of the values of a field, or of the lines of a text, means nothing.",
            default: "false"),
        watcher,
        Key("user_agent", .line, "The User-Agent that the server sees.", otherwise: "the server's"),
        Key("headers", .headers, "Sent with every request; they replace the server's headers."),
        Key(
            "allow_private", .flag, "Redirects and links may lead from a public host to a private address.",
            otherwise: "the server's"),
    ]

    static let stream = [
        Key(
            "format", .cases(of: StreamSettings.Format.self), "Server-sent events, or one record a line.",
            otherwise: "by the media type of the response"),
        Key(
            "keep_alive", .duration(atLeast: .seconds(1)), "A connection without a byte for this long has failed.",
            default: "90s"),
        Key(
            "initial", .duration(atLeast: .milliseconds(100)),
            "The server begins with everything that exists; a pause of this length ends that."),
        Key("resume", .text, "Path of the id behind which reading resumes.", otherwise: "the id of the event"),
        Key("parameter", .text, "The query parameter that takes that id.", otherwise: "the header `Last-Event-ID`"),
        Key(
            "only", .map(.oneOrMany(.text)),
            "What a record with an item has: path to value or values; `$event` is the event's name."),
        Key("delete", .map(.oneOrMany(.text)), "What a record has that removes its item."),
        Key("bookmark", .map(.oneOrMany(.text)), "What a record has that brings only an id to resume behind."),
        Key("expired", .map(.oneOrMany(.text)), "What a record has that reports that the id is too old."),
    ]

    static let interval = [
        Key("state", .oneOrMany(.text), "While any item is in one of these states.", required: true),
        Key("every", .duration(atLeast: PollInterval.shortest), "The interval meanwhile.", required: true),
    ]

    /// The keys of every sink.
    static let sink = [
        Key("kind", .text, "The kind of the receiver.", required: true),
        Key(
            "concurrency", .integer(1...DeliveryPolicy.maximumConcurrency), "Messages in flight at once, 1 to 4.",
            default: "4"),
        Key("rate", .object(rate), "A limit of messages in a time."),
        Key(
            "parallel", .flag, "Messages of one source may arrive out of order, so that a retry delays none.",
            default: "false"),
        Key(
            "give_up", .duration(atLeast: .seconds(60)), "The age at which a pending message is dead.",
            otherwise: "as in `settings`"),
        Key("queue", .object(queue), "How much may be pending for it."),
        Key(
            "group", .flag, "Whether what a gate held of several items is one message to a sink that passes on events.",
            default: "false"),
        Key(
            "else", .oneOrMany(.text),
            "Sinks that get what cannot be delivered here: the first one, then the next if it dies there, too."),
        Key(
            "else_after", .duration(atLeast: .seconds(1)),
            "How long it may fail before the sinks of `else` get its messages.", otherwise: "5m, at most `give_up`"),
        watcher,
    ]

    static let queue = [
        Key("count", .integer(1...100_000_000), "The number of messages.", default: "250000"),
        Key("size", .size, "The size of texts and events.", default: "500MB"),
        Key(
            "full", .cases(of: QueueBound.Policy.self), "Which messages die when there are more.",
            default: "drop_oldest"),
    ]

    static let rule = [
        Key("name", .text, "Its name, unique over all files.", required: true),
        Key("was", .text, "The name that the rule had before, so that it knows what it told under that name."),
        Key("when", .condition, "Which events match.", required: true),
        Key("stop", .flag, "A match ends the evaluation of further rules.", default: "false"),
        Key("priority", .cases(of: Priority.self), "How urgent the message is.", default: "normal"),
        Key("notify", notices, "The sinks: a name, or `name: {text, title}`."),
        Key("tags", .oneOrMany(.text), "Labels that a sink may show."),
        Key("for", .duration, "The match must stay true this long.", default: "0s"),
        Key(
            "depends", .oneOrMany(.text),
            "Sources; while one of them is failing or down, messages are held. Afterwards what is still true is sent."),
        Key("quiet", .object(quiet), "Times in which not to disturb."),
        Key("during", .oneOrMany(.text), "Names of windows; outside of them it is quiet.", otherwise: "at any time"),
        Key("if", .oneOrMany(.object(sourceCondition)), "What the last good poll of another source must show."),
        Key("unless", .oneOrMany(.object(sourceCondition)), "What the last good poll of another source must not show."),
        Key("at_least", .object(atLeast), "How many matches make a message."),
        Key("nothing", .duration(atLeast: .seconds(1)), "Sends a message when nothing matched for this long."),
        Key("once_per", .text, "A field of the item; one message is sent per value."),
        Key("digest", .object(digest), "Several events in one message."),
        Key(
            "limit", .object(limit),
            "A limit of messages in a time; what exceeds it ends in one message with the latest state."),
        Key(
            "resolved", .either(.flag, .object(resolved)),
            "Sends the end of each match that the rule announced, and of no other.", default: "false"),
        Key(
            "recovered_for", .duration, "A match must stay over this long before `resolved` tells its end.",
            default: "0s"),
        Key("remind", .object(remind), "Repeats the message while the match is true."),
        Key("escalate", .list(.object(escalation)), "Further sinks when the match is still true after a while."),
        Key("tests", .list(.object(test)), "Examples that `check` runs."),
    ]

    static let quiet = [
        Key("during", .oneOrMany(.text), "Names of windows; required unless the rule has `during`."),
        Key("then", .cases(of: Quiet.Action.self), "What to do with a match.", default: "defer"),
    ]

    static let limit = [
        Key("count", .integer(1...10_000), "The number of messages.", required: true),
        Key("per", .duration(atLeast: .seconds(1)), "The length of a sliding window.", required: true),
        Key("by", .text, "Which messages count together.", default: "item"),
    ]

    static let sourceCondition = [
        Key("source", .text, "The source.", required: true),
        Key("item", .map(.matcher), "Fields of the item and what they must be.", otherwise: "any item"),
        Key("field", .text, "The field that is compared.", default: "state"),
        Key("is", .matcher, "What it must be.", required: true),
        Key("drop", .flag, "Whether a state that it withholds is dropped, and not told later.", default: "false"),
    ]

    static let howMany = [
        Key("state", .matcher, "The state of the items that count."),
        Key("field", .text, "Another field, with `is`."),
        Key("is", .matcher, "The value of `field`."),
        Key("below", .number, "Fewer items than this."),
        Key("above", .number, "More items than this."),
    ]

    static let atLeast = [
        Key("count", .integer(2...1000), "The number of matches, 2 to 1000.", required: true),
        Key("per", .duration(atLeast: .seconds(1)), "The span in which they come.", required: true),
        Key("by", .text, "Which matches count together.", default: "rule"),
    ]

    static let digest = [
        Key("every", .duration(atLeast: .seconds(1)), "This long after the first event."),
        Key("at", .text, "At this time of day, as \"08:30\"."),
        Key("days", .oneOrMany(.text), "The days of `at`: mon to sun, or spans as mon-fri.", otherwise: "all"),
        Key("tz", .text, "The time zone of `at`.", otherwise: "the machine's"),
        Key("by", .text, "Which events go into one message.", default: "rule"),
    ]

    static let remind = [
        Key("every", .duration(atLeast: .seconds(1)), "The interval between messages.", required: true),
        Key(
            "until", .oneOrMany(.text), "Values of the rule's field that end the reminders.",
            otherwise: "until the match ends"),
    ]

    static let resolved = [
        Key(
            "title", .template, "The title of the end.",
            otherwise: "the match's if it shows what is so now, else the usual one"),
        Key(
            "text", .template, "The text of the end.",
            otherwise: "the match's if it shows what is so now, else the usual one"),
        Key(
            "priority", .cases(of: Priority.self), "How urgent the end is.",
            otherwise: "the rule's with the match's title, else at most `normal`"),
        Key("notify", .oneOrMany(.text), "The sinks that get the end.", otherwise: "those that got the match"),
    ]

    /// The keys of a step of `escalate`.
    static let escalation = [
        Key("after", .duration(atLeast: .seconds(1)), "The time since the first message.", required: true),
        Key("notify", notices, "The further sinks.", required: true),
    ]

    static let window = [
        Key("daily", .oneOrMany(.text), "A span of the day, as \"22:00-07:00\".", otherwise: "the whole day"),
        Key("days", .oneOrMany(.text), "Days on which it starts: mon to sun, or spans as mon-fri.", otherwise: "all"),
        Key("from", .text, "The first moment, as 2026-12-24 or 2026-12-24 18:00."),
        Key("until", .text, "The first moment after it, as 2027-01-02 or 2027-01-02 06:00."),
        Key("repeat", .text, "Days on which it starts, as a rule of RFC 5545 that counts from the day of 'from'."),
        Key("tz", .text, "A time zone, as Europe/Vienna.", otherwise: "the machine's"),
    ]

    /// The keys of a test of a rule.
    static let test = [
        Key("change", .map(.oneOrMany(.text)), "An item changed: field to value, or to [from, to]."),
        Key("appears", .map(.oneOrMany(.text)), "An item is new: its fields."),
        Key("disappears", .map(.oneOrMany(.text)), "An item is gone: its fields."),
        Key("source_state", .choice(sourceStates.map(\.word)), "The source's own health changed."),
        Key("sink_state", .choice(sinkStates.map(\.word)), "A sink is paused until a person acts."),
        Key("source", .text, "The source of the event.", otherwise: "one of the rule's"),
        Key("given", .list(.map(.text)), "What other sources show: `source` and fields of an item."),
        Key("times", .integer(1...1000), "How often the event comes, a second apart.", default: "1"),
        Key("at", .text, "The time of day of the event.", default: "12:00"),
        Key("lasts", .duration, "How long the match stays true.", default: "0s"),
        Key("expect", .oneOrMany(.text), "What the rule does.", required: true),
    ]

    /// The keys of a test that are its event; it has exactly one of them.
    static let testEvents = ["change", "appears", "disappears", "source_state", "sink_state"]

    /// Sinks: a name, or a map of names with these keys.
    private static let notices = OptionType.oneOrMany(.either(.text, .map(.object(notice))))
    static let notice = [
        Key("text", .template, "The message.", otherwise: "made from the event"),
        Key("title", .template, "Its title.", otherwise: "made from the event"),
    ]

    /// The kinds of events about sources, and about sinks, of `source_state` and `sink_state`.
    static let sourceStates: [Event.Kind] = [
        .failing, .recovered, .stale, .suspect, .offline, .online, .unequal, .equal,
    ]
    static let sinkStates: [Event.Kind] = [.paused, .disabled]

    /// The keys of `when` that select events; a rule has exactly one of them.
    static let eventConditions = [
        "field", "appears", "disappears", "changes", "stays", "how_many", "source_state", "sink_state",
    ]

    static let when = [
        Key("source", .oneOrMany(.text), "Names or globs of sources.", otherwise: "all"),
        Key("item", .map(.matcher), "Fields of the item and what they must be."),
        Key("field", .text, "A field changed."),
        Key("from", .matcher, "What it was.", otherwise: "anything"),
        Key("to", .matcher, "What it is now.", otherwise: "anything"),
        Key("appears", .flag, "An item is new."),
        Key("disappears", .flag, "An item is gone."),
        Key("changes", .oneOrMany(.text), "One of these fields changed."),
        Key("source_state", .oneOrMany(.choice(sourceStates.map(\.word))), "The source's own health changed."),
        Key(
            "sink_state", .oneOrMany(.choice(sinkStates.map(\.word))),
            "A sink refuses messages (401, 403), or is gone for good (410), and is paused until `outbox retry`."),
        Key("all", .list(.condition), "Each of these matches."),
        Key("any", .list(.condition), "One of these matches."),
        Key("not", .condition, "This does not match."),
        Key("by", .text, "By how much the number of `field` changed: 10, 5%, +5% up, -10 down."),
        Key(
            "compare", .choice(["told", "previous"]),
            "What `by` compares with: the value announced last, or the value at the poll before.", default: "told"),
        Key("older", .duration(atLeast: .seconds(1)), "The time in `field` is longer ago than this."),
        Key("how_many", .object(howMany), "The number of items of `source` with that value crosses a bound."),
        Key("stays", .matcher, "`field` (or the state) has that value for as long as `for` says."),
    ]

    static let matcher = [
        Key("glob", .text, "`*` any run, `?` one character, `[a-z]` one of a set."),
        Key("regex", .text, "A regular expression (PCRE2), found anywhere."),
        Key("contains", .text, "Found anywhere."),
        Key("above", .number, "A number above it."),
        Key("below", .number, "A number below it."),
        Key("not", .matcher, "Not this."),
    ]

    static let settings = [
        Key("retain", .object(retain), "What the journal keeps; pending messages are never pruned."),
        Key("give_up", .duration(atLeast: .seconds(60)), "The age at which a pending message is dead.", default: "72h"),
        Key(
            "journal", .object(journal), "A PostgreSQL database for the journal.",
            otherwise: "SQLite in the state directory"),
        Key(
            "watcher", .text, "The name of this watcher among several on one PostgreSQL.", otherwise: "the host's name"),
        Key("heartbeat", .object(heartbeat), "Requests to a monitor that tells somebody when they stop."),
        Key(
            "listen", .either(.text, .object(listen)), "Where the page and the metrics are offered.",
            otherwise: "nowhere"
        ),
        Key(
            "public_url", .text,
            "Where people open the page; a message that is cut names its event's address there, and `links` of sinks lead there."
        ),
    ]

    static let listen = [
        Key("address", .text, "`IP:PORT`, `unix:/PATH`, or `systemd` for the socket of a unit.", required: true),
        Key("token", .secret, "What clients must show; other machines need one."),
        Key("hosts", .oneOrMany(.text), "Names under which a proxy offers the page."),
    ]

    static let heartbeat = [
        Key("url", .secret, "Where to, as the monitor gives it.", required: true),
        Key("every", .duration(atLeast: .seconds(10)), "The interval between requests, from 10s.", default: "5m"),
        Key("method", .cases(of: HeartbeatSettings.Method.self), "The method of the requests.", default: "GET"),
        Key("token", .secret, "Sent as `Authorization: Bearer`."),
    ]

    static let retain = [
        Key("events", .duration(atLeast: .seconds(60)), "How long events are kept.", default: "30d"),
        Key("size", .size, "How large the journal may grow.", default: "1GB"),
    ]

    static let journal = [
        Key(
            "postgres", .text,
            "Where the database is, as libpq reads it: `host=db dbname=vedette` or `postgres://db/vedette`.",
            required: true),
        Key("password", .secret, "The user's password.", otherwise: "none, or the one in libpq's `passfile`"),
    ]

    static let secret = [
        Key("env", .text, "The name of an environment variable."),
        Key("file", .text, "A file with the secret."),
        Key(
            "credential", .text,
            "A file of that name in `$CREDENTIALS_DIRECTORY`, else what `vedette login` stored under it."),
        Key("command", .list(.text), "A program and its arguments; the secret is the first line of its output."),
    ]
}
