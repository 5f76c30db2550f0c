// SPDX-License-Identifier: Apache-2.0

extension Bad {
    private static let wrongColon =
        "check the indentation, and that the line above has a space behind its colon; else quote a text that holds ': '"

    static let syntax = [
        Bad("sources: [", "2:1: bad YAML: did not find expected node content; a value or a closing bracket is missing"),
        Bad("a: b: c", "1:5: bad YAML: mapping values are not allowed in this context; \(wrongColon)"),
        Bad(
            "sources:\n  a:\n    kind:feed\n    url: https://h/\n",
            "4:8: bad YAML: mapping values are not allowed in this context; \(wrongColon)"),
        Bad(
            "sources:\n\ts: 1",
            "2:1: bad YAML: found character that cannot start any token; quote the text, and indent with spaces, not tabs"
        ),
        Bad("sources: {s: 1, s: 2}", "1:11: 's' is written twice in this map; keep one"),
        Bad("a: *b", "1:4: bad YAML: found undefined alias; quote a text that begins with '*'"),
        Bad(
            "--- {}\n--- {}",
            "2:1: bad YAML: found another document (expected a single document in the stream, line 1); write one document per file"
        ),
        Bad("just text", "1:1: the file must be a map as {servers: …}, not a text"),
        Bad("- a", "1:1: the file must be a map as {servers: …}, not a list"),
        Bad("a\u{1}b: c", "1:2: bad YAML: control characters are not allowed; remove the character"),
        Bad(
            "\"abc",
            "1:5: bad YAML: found unexpected end of stream; close the quote"),
        Bad(
            "{1: 2, ? [a]: b, : c}",
            "1:18: bad YAML: did not find expected node content; a value or a closing bracket is missing"),
        Bad(
            "windows: {night: {daily: x}, day: {days: [mon, fryday], tz: Europe/Wien}, w: {}}",
            "1:26: 'daily' is a span of the day as \"22:00-07:00\", not 'x'",
            "1:48: 'days' takes mon, tue, wed, thu, fri, sat, sun and spans as mon-fri, not 'fryday'",
            "1:61: 'Europe/Wien' is no time zone of this machine; write a name as 'Europe/Vienna' or 'UTC'",
            "1:78: window 'w' needs 'daily' as \"22:00-07:00\", 'days', 'repeat', or 'from' and 'until'"),
        Bad(
            "windows: {a: {from: soon, until: 2026-12-24}, b: {from: 2026-12-24, until: 2026-12-24}, c: {repeat: x}}",
            "1:21: 'from' is a day as 2026-12-24, or with a time as 2026-12-24 18:00, not 'soon'",
            "1:50: 'until' is not later than 'from'", "1:101: 'repeat' needs 'from': the day from which it counts"),
        Bad(
            "windows: {d: {from: 2026-12-24, repeat: FREQ=HOURLY}}",
            "1:41: 'FREQ=HOURLY' is no rule of RFC 5545 that has days, as FREQ=MONTHLY;BYDAY=1SU; the times of the day are 'daily'"
        ),
        Bad(
            "sources: {a b: {kind: feed, url: 'https://h/'}}",
            "1:11: 'a b' cannot name a source; take letters, digits and - _ . : + @, not beginning with '-'"),
        Bad(
            "sources: {'a/b': {kind: feed, url: 'https://h/'}}",
            "1:11: 'a/b' cannot name a source; take letters, digits and - _ . : + @, not beginning with '-'"),
        Bad(
            "sources: {'..': {kind: json, url: 'https://x.example/', items: a, key: id}}",
            "1:11: '..' cannot name a source: in an address it would be a relative path"),
        Bad("sources: feed", "1:10: 'sources' must be a map, not a text"),
        Bad("rules: {}", "1:8: 'rules' must be a list, not a map"),
    ]

    static let sources = [
        Bad("sources: {s: {kind: fed, url: 'https://h/'}}", "1:21: unknown kind 'fed'; did you mean 'feed'?"),
        Bad(
            "sources: {s: {kind: zzz, url: 'https://h/', evry: 1}}",
            "1:21: unknown kind 'zzz'; known are cloudburst, codes, feed, json, markup, news, page"),
        Bad(
            "sources: {s: {url: 'https://h/'}}",
            "1:14: source 's' lacks 'kind': one of cloudburst, codes, feed, json, markup, news, page"),
        Bad("sources: {s: }", "1:14: source 's' must be a map, not nothing"),
        Bad(
            "sources: {s: {kind: [feed], url: 'https://h/'}}",
            "1:21: 'kind' must be a text, not a list; quote a text that begins with '['"),
        Bad(
            "sources: {s: {kind: feed, url: 'https://h/', evry: 15s, password: x, codes: {}}}",
            "1:46: unknown key 'evry' in source 's'; did you mean 'every'?",
            "1:57: 'password' belongs to a server: write it under 'servers' and name that with 'server'",
            "1:70: unknown key 'codes' in source 's'; known are allow_private, at, command, during, each, empty, every, fails, first, headers, ignore, kind and 9 more"
        ),
        Bad(
            "sources: {s: {kind: feed, url: 'https://h/', every: 15}}",
            "1:53: 'every' must be a duration up to 3650d as '200ms', '15s', '5m', '1h' or '30d', not '15'"),
        Bad(
            "sources: {s: {kind: feed, url: 'https://h/', every: 5ms, fails: 0, first: announced, empty: ok}}",
            "1:53: 'every' is at least 100ms, not '5ms'",
            "1:65: 'fails' must be a whole number from 1 to 1000, not '0'",
            "1:75: 'first' is one of 'baseline', 'announce', not 'announced'; did you mean 'announce'?",
            "1:93: 'empty' is one of 'suspect', 'valid', not 'ok'"),
        Bad(
            "sources: {s: {kind: feed, url: 'https://h/', every: 4000d}}",
            "1:53: 'every' must be a duration up to 3650d as '200ms', '15s', '5m', '1h' or '30d', not '4000d'"),
        Bad(
            "sources: {s: {kind: feed, url: 'https://h/', every: }}",
            "1:46: 'every' has no value; write one or remove the key"),
        Bad(
            "sources: {s: {kind: feed, url: 'https://h/', while: {state: [], evry: 3s}}}",
            "1:53: 'while' lacks 'every': the interval meanwhile",
            "1:61: 'state' is an empty list; write a value or remove the key",
            "1:65: unknown key 'evry' in 'while'; did you mean 'every'?"),
        Bad(
            "sources: {s: {kind: feed, url: 'ftp://h/'}}",
            "1:32: 'url' must be an absolute URL as https://host/path, not 'ftp://h/'"),
        Bad(
            "sources: {s: {kind: feed, url: 'https://{{g}}.example/'}, t: {kind: feed, url: 'http://127.0.0.1:99999/'}}",
            "1:32: 'url' names a host with '{', which no host has; a name in double braces must be one of 'each'",
            "1:80: 'url' has a port that is no number up to 65535"),
        Bad(
            "sources: {s: {kind: feed, url: 'http://[::1/'}, t: {kind: feed, url: 'http://[::1]:x/'}}",
            "1:32: 'url' has no valid IPv6 address in its brackets; write it as [2001:db8::1]",
            "1:70: 'url' has a port that is no number up to 65535"),
        Bad(
            "servers: {lab: {url: 'https://h:443/'}, v6: {url: 'https://[fe80::1%25eth0]:8443/'}, any: {url: 'https://h:'}}"
        ),
        Bad(
            "sources: {s: {kind: feed, url: 'https://joe:hunter2@h/'}}",
            "1:32: 'url' holds a user or password; write 'user' and 'password' of a server instead"),
        Bad(
            "sources: {s: {kind: feed, url: 'https://h/', path: /x}}",
            "1:46: 'path' needs 'server'; write the whole address as 'url'"),
        Bad(
            "servers: {lab: {url: 'https://h'}}\nsources: {s: {kind: feed, server: lav}}",
            "2:35: unknown server 'lav'; did you mean 'lab'?"),
        Bad(
            "servers: {lab: {url: 'https://h'}}\nsources: {s: {kind: feed, server: lab, url: 'https://h'}}",
            "2:40: 'url' and 'server' exclude each other; write 'path' for a place on the server"),
        Bad(
            "servers: {lab: {url: 'https://h'}}\nsources: {s: {kind: feed, server: lab, path: 'https://evil/'}}",
            "2:46: 'path' must stay on the server, as '/resources/virtualSystems'; another host is another server"),
        Bad(
            "servers: {lab: {url: 'https://h'}}\nsources: {s: {kind: feed, server: lab, path: '//evil/'}}",
            "2:46: 'path' must stay on the server, as '/resources/virtualSystems'; another host is another server"),
        Bad(
            "sources: {s: {kind: feed, url: 'file:///a.xml', headers: {A: b}}}",
            "1:49: 'headers' belongs to a request, but this source reads a file; remove it"),
        Bad(
            "sources: {s: {kind: feed, command: [cat, a.xml], user_agent: me}}",
            "1:50: 'user_agent' belongs to a request, but this source reads the output of a command; remove it"),
        Bad(
            "servers: {lab: {url: 'https://h', headers: {X-Title: '{{title}}'}}}",
            "1:54: the header 'X-Title' is sent as it is written, so it takes no template; write a text"),
        Bad(
            "servers: {lab: {url: h}}\nsources: {s: {kind: feed, server: lab}}",
            "1:22: 'url' must be an absolute URL as https://host/path, not 'h'"),
        Bad(
            "servers: {lab: {url: 'me:secret@h', proxy: 'me:secret@p:3128'}}\nsources: {s: {kind: feed, server: lab}}",
            "1:22: 'url' must be an absolute URL as https://host/path",
            "1:44: 'proxy' must be 'none' or an address as http://proxy.example.com:3128, with http, https, socks5h or socks4a"
        ),
        Bad(
            "servers: {lab: {user: x}}", "1:16: server 'lab' lacks 'url': the base that a source's `path` starts from",
            "1:17: 'user' needs 'password' beside it"),
        Bad(
            "servers: {lab: {url: 'https://h', tls: {pin: 'sha256//short='}}}",
            "1:46: 'pin' must be 'sha256//' and 44 base64 characters (of 32 bytes), several with ';'"),
        Bad(
            "servers: {lab: {url: 'https://h', tls: {insecure: yes, ca: /nowhere/ca.pem}}}",
            "1:51: 'insecure' is 'true' or 'false', not 'yes'",
            "1:60: 'ca' names '/nowhere/ca.pem', but this file does not exist"),
        Bad(
            "servers: {lab: {url: 'https://h', tls: {insecure: true, ca: /dev/null}}}",
            "1:41: 'insecure' switches every check off; remove it, or 'ca' and 'pin'",
            "1:61: 'ca' names '/dev/null', but this is not a regular file"),
        Bad(
            "servers: {lab: {url: 'https://h', headers: {'A b': x, X-A: \"a\\r\\nX-B: c\", Host: h, x-c: 1, X-C: 2}}}",
            "1:45: 'A b' is not a header name; it takes letters, digits and '-'",
            "1:60: the header 'X-A' holds a line end or control character; write one line",
            "1:75: the header 'Host' is set by the transfer; remove it",
            "1:92: the header 'X-C' is written twice; keep one"
        ),
        Bad(
            "servers: {lab: {url: 'https://h', headers: {'': x}}}",
            "1:45: a key must be a text, not an empty one"),
        Bad(
            "servers: {lab: {url: 'https://h', user_agent: \"a\\nb\"}}",
            "1:47: 'user_agent' holds a line end or control character; write one line"),
        Bad(
            "sources: {s: {kind: json, url: 'https://h/', limit: 101, strict: yes, mode: lst, since: x, key: [], fields: [a]}}",
            "1:53: 'limit' must be a whole number from 1 to 100, not '101'",
            "1:66: 'strict' is 'true' or 'false', not 'yes'",
            "1:77: 'mode' is one of 'list', 'window', not 'lst'; did you mean 'list'?",
            "1:89: 'since' must be a duration up to 3650d as '200ms', '15s', '5m', '1h' or '30d', not 'x'",
            "1:97: 'key' is an empty list; write a value or remove the key", "1:109: 'fields' must be a map, not a list"
        ),
        Bad("sources: {s: {kind: json, url: 'https://h/', key: [id, .x]}}", "1:56: the path '.x' has an empty part"),
        Bad(
            "sources: {s: {kind: json, url: 'https://h/', fields: {a: , b: {c: d}}}}",
            "1:58: 'a' of 'fields' has no value; write one or remove it",
            "1:63: 'b' of 'fields' must be a text, not a map; quote a text that begins with '{'"),
        Bad(
            "sources: {s: {kind: json, url: 'https://h/', items: !env X}}",
            "1:53: the tag '!env' has no meaning here; quote the text, or write {env: NAME} for a secret"),
        Bad(
            "sources: {s: {kind: cloudburst, url: 'https://h/', codes: {RM01901: Queued, X1: y}}}",
            "1:81: 'X1' is no code; write RM and five digits"),
    ]

    static let sinks = [
        Bad(
            "sinks: {d: {kind: desktop, concurrency: 5, rate: {count: 0, per: 1m}, parallel: yes, give_up: 3s}}",
            "1:41: 'concurrency' must be a whole number from 1 to 4, not '5'",
            "1:58: 'count' must be a whole number from 1 to 1000000, not '0'",
            "1:81: 'parallel' is 'true' or 'false', not 'yes'",
            "1:95: 'give_up' is at least 1m, not '3s'"),
        Bad(
            "sinks: {d: {kind: desktop, queue: {count: 0, size: 5, full: block, age: 3d}, else: [d, dsktop, e, e]}, e: {kind: desktop}}",
            "1:43: 'count' must be a whole number from 1 to 100000000, not '0'",
            "1:52: 'size' must be a size as '500MB' or '1GB', not '5'",
            "1:61: 'full' is one of 'drop_oldest', 'drop_newest', not 'block'",
            "1:68: unknown key 'age' in 'queue'; known are count, full, size",
            "1:85: 'else' names the sink itself; name another one",
            "1:88: unknown sink 'dsktop'; known are d, e", "1:99: the sink 'e' is named twice in 'else'; keep one"),
        Bad(
            "sinks: {d: {kind: desktop, else_after: 0s}}",
            "1:40: 'else_after' is at least 1s, not '0s'",
            "1:40: 'else_after' needs 'else', the sinks that get the messages"),
        Bad(
            "sinks: {d: {kind: desktop, group: true}}",
            "1:28: 'group' is about sinks that pass on events; 'desktop' gets one message about several anyway, so remove it"
        ),
        Bad("sinks: {d: {kind: desktp}}", "1:19: unknown kind 'desktp'; did you mean 'desktop'?"),
        Bad("sinks: {d: {url: x}}", "1:12: sink 'd' lacks 'kind': one of desktop, slack, webhook"),
        Bad("sinks: {d: desktop}", "1:12: sink 'd' must be a map, not a text"),
        Bad("sinks: {h: {kind: webhook}}", "1:12: sink 'h' lacks 'url': where to"),
        Bad(
            "sinks: {h: {kind: webhook, url: https://h/, title: 'a {{itm.name}}', headrs: {}}}",
            "1:55: in 'title': unknown name 'itm.name'; did you mean 'item.name'?",
            "1:70: unknown key 'headrs' in sink 'h'; did you mean 'headers'?"),
        Bad(
            "sources: {s: {kind: news, url: 'https://h/'}}\nsinks: {h: {kind: webhook, url: https://h/, title: '{{item.author}} {{item.nmae}}', body: {a: '{{number item.autor}}'}}}",
            "2:69: in 'title': unknown name 'item.nmae'; did you mean 'item.name'?",
            "2:96: in 'a' of 'body': unknown name 'item.autor'; did you mean 'item.author'?"),
        Bad(
            "sources: {s: {kind: news, url: 'https://h/'}, t: {kind: json, url: 'https://h/'}}\nsinks: {h: {kind: webhook, url: https://h/, title: '{{item.nmae}}'}}"
        ),
        Bad(
            "sinks: {t: {kind: slack, url: https://hooks/x}}",
            "1:31: 'url' stands in a file that others can read; write 'chmod 600 a.yaml', or {env: NAME} here"),
        Bad(
            "settings: {retain: {events: 30, size: 1G}, give_up: 1s, heartbeat: {}, retian: 1}",
            "1:29: 'events' must be a duration up to 3650d as '200ms', '15s', '5m', '1h' or '30d', not '30'",
            "1:39: 'size' must be a size as '500MB' or '1GB', not '1G'",
            "1:53: 'give_up' is at least 1m, not '1s'",
            "1:68: 'heartbeat' lacks 'url': where to, as the monitor gives it",
            "1:72: unknown key 'retian' in 'settings'; did you mean 'retain'?"),
        Bad(
            "settings: {public_url: v.example.com}",
            "1:24: 'public_url' is where people open the page, as https://vedette.example.com, not 'v.example.com'"),
        Bad(
            "settings: {public_url: 'https://me:hunter2@v.example.com'}",
            "1:24: 'public_url' is where people open the page, as https://vedette.example.com; it has no user and no query"
        ),
        Bad("settings: [a]", "1:11: 'settings' must be a map as {retain: …}, not a list"),
        Bad(
            "settings: {journal: {postgres: 'host=db password=x', pasword: {env: LAB}}}",
            "1:32: 'postgres' must hold no password; write {journal: {postgres: …, password: {credential: NAME}}} in "
                + "'settings', or name a 'passfile'",
            "1:54: unknown key 'pasword' in 'journal'; did you mean 'password'?"),
        Bad(
            "settings: {journal: {postgres: hots=db}}",
            "1:32: 'postgres' has the unknown keyword 'hots'; did you mean 'host'?"),
        Bad(
            "settings: {journal: {}}",
            "1:21: 'journal' lacks 'postgres': where the database is, as libpq reads it: `host=db dbname=vedette` or `postgres://db/vedette`"
        ),
        Bad(
            "settings: {listen: '0.0.0.0:8420'}",
            "1:20: '0.0.0.0:8420' can be reached from other machines and needs a token: listen: {address: …, token: "
                + "{file: …}}, behind a proxy with TLS"),
        Bad(
            "settings: {listen: {address: 'host.example.com:80', tokn: x}}",
            "1:30: 'address' must have a numeric address such as 127.0.0.1:8420 or [::1]:8420, not 'host.example.com:80'",
            "1:53: unknown key 'tokn' in 'listen'; did you mean 'token'?"),
        Bad(
            "settings: {listen: {address: '127.0.0.1:80', hosts: ['https://a.example/']}}",
            "1:53: 'hosts' has names without scheme, port and path, not 'https://a.example/'"),
        Bad(
            "settings: {listen: {address: '127.0.0.1:80', hosts: ['*.a.example']}}",
            "1:53: 'hosts' has each name in full, and '*.a.example' stands for no other"),
    ]

    static let rules = [
        Bad("- {when: {appears: true}, notify: desk}", "4:3: a rule lacks 'name': its name, unique over all files"),
        Bad("- {name: r, notify: desk}", "4:3: rule 'r' lacks 'when': which events match"),
        Bad("- {name: r, when: {appears: true}}", "4:3: rule 'r' lacks 'notify': the sinks that get its messages"),
        Bad("- text", "4:3: a rule must be a map as {name: …, when: …}, not a text"),
        Bad(
            "- {name: r, when: {appears: true}, notify: [], for: 5, limit: {}, limt: 1}",
            "4:44: 'notify' is an empty list; write a value or remove the key",
            "4:53: 'for' must be a duration up to 3650d as '200ms', '15s', '5m', '1h' or '30d', not '5'",
            "4:63: 'limit' lacks 'count': the number of messages",
            "4:63: 'limit' lacks 'per': the length of a sliding window",
            "4:67: unknown key 'limt' in rule 'r'; did you mean 'limit'?"),
        Bad(
            "- {name: r, source: ci, when: {appears: true}, notify: desk}",
            "4:13: 'source' belongs in 'when', as in 'when: {source: …}'"),
        Bad(
            "- {name: r, when: {field: state, below: 15}, notify: desk, else: desk, above: 5, text: t}",
            "4:34: 'below' is about a value: write 'to: {below: …}' beside 'field', or 'item: {FIELD: {below: …}}'",
            "4:60: 'else' is a key of a sink: write it under 'sinks', at the sink that 'notify' names",
            "4:72: 'above' is about a value in 'when', as in 'when: {field: price, to: {above: …}}'",
            "4:82: 'text' belongs in 'notify', as in 'notify: {SINK: {text: …}}'"),
        Bad(
            "- {name: r, when: {appears: true, state: down, for: 5m}, notify: desk}",
            "4:35: 'state' is a value of the item: write 'item: {state: …}', or 'field: state' for a change of it",
            "4:48: 'for' is a key of the rule: write it beside 'when'"),
        Bad(
            "- {name: r, when: {appears: true, stays: x}, notify: [dsk, desk, desk]}",
            "4:13: 'stays' needs 'for': how long it stays, as 'for: 30m'",
            "4:35: 'stays' excludes 'appears': 'when' takes one of field, appears, disappears, changes, stays, how_many, source_state, sink_state; use 'any' for several",
            "4:55: unknown sink 'dsk'; did you mean 'desk'?",
            "4:66: the sink 'desk' is named twice in 'notify'; keep one"),
        Bad(
            "- {name: r, when: {appears: true}, notify: [desk: {txt: x}], priority: hi, stop: 1}",
            "4:52: unknown key 'txt' in 'desk'; did you mean 'text'?",
            "4:72: 'priority' is one of 'low', 'normal', 'high', not 'hi'", "4:82: 'stop' is 'true' or 'false', not '1'"
        ),
        Bad(
            "- {name: r, when: {source: wb, appears: true}, notify: desk}",
            "4:28: unknown source 'wb'; did you mean 'web'?"),
        Bad(
            "- {name: r, when: {source: ['web', 'x*'], appears: true}, notify: desk}",
            "4:36: 'x*' matches no source; known are any, web"),
        Bad(
            "- {name: r, when: {source: web}, notify: desk}",
            "4:19: 'when' does not select events; add one of 'field', 'appears', 'disappears', 'changes', 'stays', 'how_many', 'source_state', 'sink_state'"
        ),
        Bad(
            "- {name: r, when: {appears: true, disappears: true, from: x}, notify: desk}",
            "4:35: 'disappears' excludes 'appears': 'when' takes one of field, appears, disappears, changes, stays, how_many, source_state, sink_state; use 'any' for several",
            "4:53: 'from' needs 'field', as 'field: state'"),
        Bad(
            "- {name: r, when: {appears: false}, notify: desk}",
            "4:29: 'appears: false' has no effect; remove it, or use 'not'"),
        Bad(
            "- {name: r, when: {source_state: failed}, notify: desk}",
            "4:34: 'source_state' is one of 'failing', 'recovered', 'stale', 'suspect', 'offline', 'online', 'unequal', 'equal', not 'failed'"
        ),
        Bad(
            "- {name: r, when: {source: web, field: stat, to: }, notify: desk}",
            "4:40: unknown field 'stat'; did you mean 'state'?", "4:46: 'to' has no value; write one or remove the key"),
        Bad(
            "- {name: r, when: {source: web, changes: [ownr], item: {colour: red}}, notify: desk}",
            "4:43: unknown field 'ownr'; did you mean 'owner'?",
            "4:57: unknown field 'colour'; known are key, message, name, owner, state, time, title, url"),
        Bad(
            "- {name: r, when: {field: state, to: {glb: x}, from: {glob: a, contains: b}}, notify: desk}",
            "4:39: unknown key 'glb' in 'to'; did you mean 'glob'?",
            "4:54: 'from' takes one of 'glob', 'regex', 'contains', 'above', 'below', 'not'"),
        Bad(
            "- {name: r, when: {field: state, to: {}, from: {above: many}}, notify: desk}",
            "4:38: 'to' takes one of 'glob', 'regex', 'contains', 'above', 'below', 'not'",
            "4:56: 'above' must be a number, not 'many'"),
        Bad(
            "- {name: r, when: {field: state, to: {regex: 'a''(b'}}, notify: desk}",
            #"4:52: bad regular expression; close it, or write '\(' for the character itself"#
        ),
        Bad(
            "- name: r\n  when: {field: state, to: {regex: \"\\x41[b\"}}\n  notify: desk",
            #"5:43: bad regular expression; close it, or write '\[' for the character itself"#
        ),
        Bad(
            "- {name: r, when: {all: [], any: {}, appears: true}, notify: desk}",
            "4:25: 'all' is an empty list; write a condition", "4:34: 'any' must be a list, not a map"),
        Bad(
            "- {name: r, when: {any: [{appears: true}, {item: {title: x}}]}, notify: desk}",
            "4:19: 'when' does not select events; add one of 'field', 'appears', 'disappears', 'changes', 'stays', 'how_many', 'source_state', 'sink_state'"
        ),
        Bad(
            "- name: r\n  when: {source: web, appears: true}\n  notify:\n  - desk:\n      text: |\n        Hello\n        {{item.nme}} {{item.owner}}",
            "10:9: in 'text': unknown name 'item.nme'; did you mean 'item.name'?"),
        Bad(
            "- {name: r, when: {source: any, appears: true}, notify: [desk: {text: \"\\u00e4 {{#item.any}}\", title: '{{itm}}'}]}",
            "4:79: in 'text': the section 'item.any' is not closed; write '{{/item.any}}'",
            "4:103: in 'title': unknown name 'itm'; known are item.key, item.title, item.name, item.state, item.url, item.time, event.id, event.type, event.kind, event.time, event.source, event.poll, change.field, change.from, change.to, change.lasted, change.diff, source.name, source.kind, rule.name, link, error.class, error.detail, suppressed, resolved, digest.count, digest.lines, group, acknowledged"
        ),
        Bad(
            "- {name: r, when: {source: any, appears: true}, notify: [desk: {text: 'it''s {{}}', title: {{x}} }]}",
            "4:78: in 'text': an empty tag; write a name, as in '{{item.title}}'",
            "4:92: 'title' must be a text, not a map; quote a text that begins with '{'"),
        Bad(
            "- name: r\n  when: {appears: true}\n  notify:\n  - desk:\n      text: >-\n        folded\n        {{zzz}}",
            "8:13: in 'text': unknown name 'zzz'; known are item.key, item.title, item.name, item.state, item.url, item.time, event.id, event.type, event.kind, event.time, event.source, event.poll, change.field, change.from, change.to, change.lasted, change.diff, source.name, source.kind, rule.name, link, error.class, error.detail, suppressed, resolved, digest.count, digest.lines, group, acknowledged"
        ),
        Bad(
            "- name: r\n  when: {appears: true}\n  tests: {}\n  notify:\n  - desk:\n      text: plain\n        {{zzz}}",
            "6:10: 'tests' must be a list, not a map",
            "9:13: in 'text': unknown name 'zzz'; known are item.key, item.title, item.name, item.state, item.url, item.time, event.id, event.type, event.kind, event.time, event.source, event.poll, change.field, change.from, change.to, change.lasted, change.diff, source.name, source.kind, rule.name, link, error.class, error.detail, suppressed, resolved, digest.count, digest.lines, group, acknowledged"
        ),
    ]
}
