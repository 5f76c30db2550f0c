// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The keys of a server with which it knows who asks.
extension ConfigurationKeys {
    /// The keys of a server that are ways to authenticate; it has at most one of them.
    static let authentications = ["user", "netrc", "token", "query", "oauth2", "aws"]

    static let aws = [
        Key("region", .text, "The region, as `eu-central-1`.", required: true),
        Key("service", .text, "The service, as `ec2`.", required: true),
        Key("key_id", .text, "The id of the access key.", required: true),
        Key("secret_key", .secret, "The secret access key.", required: true),
    ]

    static let session = [
        Key("login", .text, "The page of the login form, on the origin of the server."),
        Key("fields", .map(.textOrSecret), "The fields of the form of `login` or `post`."),
        Key("header", .text, "A header that a refusal gives and that further requests repeat."),
        Key(
            "from", .integer(400...499),
            "The status of the response that gives the value of `header`, or that asks for another `post` (401).",
            default: "409"),
        Key("post", .text, "Where a POST logs in: a path, or an absolute URL."),
        Key("json", .json, "The JSON that `post` sends; `{env: NAME}` and the like are secrets in it."),
        Key("user", .line, "For basic authentication of `post`, with `password`."),
        Key("password", .secret, "For basic authentication of `post`, with `user`."),
        Key("token", .object(sessionToken), "Where the response to `post` has the token.", otherwise: "only cookies"),
        Key("send", .object(sessionSend), "How further requests carry the token."),
        Key("expires", .object(sessionExpires), "When the token expires.", otherwise: "when it is refused"),
    ]

    static let sessionToken = [
        Key("header", .text, "A header of the response."),
        Key("field", .text, "A field of the JSON in the response, as `data.token`."),
        Key("body", .flag, "The whole body is the token, as text or as a JSON string.", default: "false"),
    ]

    static let sessionSend = [
        Key("header", .text, "The header that carries the token.", required: true),
        Key("scheme", .text, "What stands before the token, as `Bearer`."),
    ]

    static let sessionExpires = [
        Key("field", .text, "A field of the JSON in the response: a date, or the seconds.", required: true)
    ]

    static let oauth2 = [
        Key("token_url", .url, "The token endpoint.", required: true),
        Key("client_id", .text, "The client's id.", required: true),
        Key("client_secret", .secret, "The client's secret."),
        Key("user", .line, "For the grant `password`, with `password`."),
        Key("password", .secret, "For the grant `password`, with `user`."),
        Key("refresh_token", .secret, "For the grant `refresh_token`."),
        Key("scope", .oneOrMany(.text), "The scope of the token."),
        Key("audience", .text, "The audience of the token, if the server requires it."),
        Key("in_body", .flag, "Send id and secret in the body instead of by basic authentication.", default: "false"),
    ]
}
