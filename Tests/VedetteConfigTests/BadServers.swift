// SPDX-License-Identifier: Apache-2.0

import Testing

extension Bad {
    /// Each is what stands behind `url` in `servers: {h: {url: 'https://h', …}}`; the first of its columns is 35.
    static let servers = [
        Bad(
            "auth: digst, user: u",
            "1:41: 'auth' is one of 'basic', 'digest', not 'digst'; did you mean 'digest'?",
            "1:48: 'user' needs 'password' beside it"),
        Bad("auth: digest", "1:35: 'auth' needs 'user' and 'password' beside it, or 'netrc'"),
        Bad(
            "token: {env: T}, user: u, password: {env: P}",
            "1:52: 'user' and 'token' are two ways to authenticate; keep one"),
        Bad(
            "token: {env: T}, query: {key: {env: P}}",
            "1:52: 'query' and 'token' are two ways to authenticate; keep one"),
        Bad(
            "token: {env: T}, headers: {authorization: {env: P}}",
            "1:62: the header 'Authorization' and 'token' are two ways to authenticate; keep one"),
        Bad(
            "query: {key: {env: T}, kex: {env: T}}",
            "1:42: 'query' takes one parameter: its name, and the secret behind it"),
        Bad("query: {}", "1:42: 'query' takes one parameter: its name, and the secret behind it"),
        Bad("query: {key: }", "1:43: 'key' has no value; write one or remove the key"),
        Bad("query: key", "1:42: 'query' must be a map, not a text"),
        Bad(
            "query: {key: abc}",
            "1:48: 'key' of 'query' stands in a file that others can read; write 'chmod 600 a.yaml', or {env: NAME} here"
        ),
        Bad(
            "oauth2: {token_url: h, client_id: c}",
            "1:43: 'oauth2' lacks 'client_secret': the client's secret",
            "1:55: 'token_url' must be an absolute URL as https://host/path, not 'h'"),
        Bad(
            "oauth2: {token_url: 'https://a:b@h/', client_id: c, client_secret: {env: T}, in_body: 1, scop: x}",
            "1:55: 'token_url' holds a user or password; write 'user' and 'password' of a server instead",
            "1:121: 'in_body' is 'true' or 'false', not '1'",
            "1:124: unknown key 'scop' in 'oauth2'; did you mean 'scope'?"),
        Bad(
            "oauth2: {token_url: 'http://id.example.com/', client_id: c, client_secret: {env: T}}",
            "1:55: 'token_url' leads from https to http, which gets no secret; write https"),
        Bad(
            "aws: {region: 'a:b', service: ec2, key_id: k, secret_key: {env: T}}",
            "1:49: 'region' takes letters, digits and '-', not 'a:b'"),
        Bad("session: {from: 409}", "1:44: 'session' needs 'login' with 'fields', or 'post', or 'header'"),
        Bad(
            "session: {header: X-S, login: /login}",
            "1:58: 'login' and 'header' are two ways to begin a session; keep one"),
        Bad(
            "session: {login: /login}",
            "1:45: 'login' needs 'fields' beside it: the names of the form's inputs and their values"),
        Bad(
            "session: {login: 'https://id.example.org/', fields: {u: a}}",
            "1:52: 'login' is on another origin than the server, which gets no password"),
        Bad(
            "session: {login: /login, fields: {password: secret}}",
            "1:79: 'password' of 'fields' stands in a file that others can read; "
                + "write 'chmod 600 a.yaml', or {env: NAME} here"),
        Bad(
            "cookies: none, session: {login: /login, fields: {u: a}}",
            "1:60: 'login' needs cookies; remove 'cookies: none'"),
        Bad(
            "session: {post: /in, header: X-S}",
            "1:45: 'post' and 'header' are two ways to begin a session; keep one"),
        Bad(
            "session: {post: /in}",
            "1:45: 'post' needs what it sends beside it: 'json', 'fields', or 'user' and 'password'"),
        Bad(
            "session: {post: /in, json: {password: abc}}",
            "1:73: 'password' of 'json' stands in a file that others can read; "
                + "write 'chmod 600 a.yaml', or {env: NAME} here"),
        Bad(
            "session: {post: /in, json: {a: b}, token: {field: t}}",
            "1:70: 'token' needs 'send' beside it: the header that carries the token"),
        Bad(
            "session: {post: /in, json: {a: b}, token: {field: t, body: true}, send: {header: X}}",
            "1:77: 'token' takes one of 'header', 'field' and 'body: true'"),
        Bad(
            "session: {post: 'http://id.example.org/', json: {a: b}}",
            "1:51: 'post' leads from https to http, which gets no password; write https"),
        Bad(
            "session: {header: X-S, json: {a: b}}", "1:58: 'json' needs 'post' beside it"),
        Bad("session: {header: 'a b'}", "1:53: 'a b' is not a header name; it takes letters, digits and '-'"),
        Bad("netrc: false", "1:42: 'netrc: false' has no effect; remove it"),
        Bad("netrc: [a]", "1:42: 'netrc' must be a text, not a list; quote a text that begins with '['"),
        Bad("netrc: true", "1:42: 'netrc: true' means ~/.netrc, but $HOME is not set; name the file"),
        Bad("netrc: /nowhere/netrc", "1:42: the netrc file '/nowhere/netrc' cannot be used: this file does not exist"),
        Bad("tls: {minimum: 1.4}", "1:50: 'minimum' is one of '1.0', '1.1', '1.2', '1.3', not '1.4'"),
        Bad(
            "tls: {key: /nowhere/key.pem}", "1:41: 'key' needs 'certificate' beside it",
            "1:46: 'key' names '/nowhere/key.pem', but this file does not exist"),
        Bad(
            "tls: {certificate: /nowhere/c.pem}",
            "1:54: 'certificate' names '/nowhere/c.pem', but this file does not exist"),
        Bad(
            "proxy: direct",
            "1:42: 'proxy' must be 'none' or an address as http://proxy.example.com:3128, with http, https, socks5h or socks4a, not 'direct'"
        ),
        Bad(
            "proxy: 'http://p/path'",
            "1:42: 'proxy' must be 'none' or an address as http://proxy.example.com:3128, with http, https, socks5h or socks4a, not 'http://p/path'"
        ),
        Bad(
            "proxy: 'socks5://p:1080'",
            "1:42: 'proxy' begins with socks5://; write socks5h://, which has the proxy look up names"),
        Bad(
            "proxy: 'http://joe:hunter2@p'",
            "1:42: 'proxy' holds a user or password; write {url: URL, user: NAME, password: SECRET}"),
        Bad("proxy: {url: 'http://p', user: u}", "1:60: 'user' needs 'password' beside it"),
        Bad("proxy: {url: 'socks4a://p', password: {env: P}}", "1:63: 'password' needs 'user' beside it"),
        Bad(
            "proxy: {user: u, password: {env: P}}",
            "1:42: 'proxy' lacks 'url': its address, with `http`, `https`, `socks5h` or `socks4a`"),
        Bad("cookies: jar", "1:44: 'cookies' is one of 'none', 'memory', 'journal', not 'jar'"),
        Bad("rate: 5", "1:41: 'rate' must be a map as {count: …, per: …}, not a text"),
        Bad(
            "rate: {count: 0, per: 1}", "1:49: 'count' must be a whole number from 1 to 1000000, not '0'",
            "1:57: 'per' must be a duration up to 3650d as '200ms', '15s', '5m', '1h' or '30d', not '1'"),
        Bad("rate: {count: 5}", "1:41: 'rate' lacks 'per': the time"),
        Bad("concurrency: 9", "1:48: 'concurrency' must be a whole number from 1 to 8, not '9'"),
        Bad("allow_private: yes", "1:50: 'allow_private' is 'true' or 'false', not 'yes'"),
    ]
}
