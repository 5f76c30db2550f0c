// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Sends each message as a mail, through the user's server (RFC 6409).
enum MailKind {
    static let entry = SinkKindEntry(
        name: "mail", summary: "Sends each message as a mail, with a thread for each item.",
        options: [
            OptionSpec(
                "url", .text, "The server: smtp://HOST (port 587, then STARTTLS) or smtps://HOST (port 465).",
                required: true),
            OptionSpec(
                "starttls", .choice(Mail.Upgrade.allCases.map(\.rawValue)),
                "Whether a connection of smtp:// goes on in TLS; on this machine and without a login the default is `never`.",
                default: "required"),
            OptionSpec("user", .text, "For the login, with `password`."),
            OptionSpec("password", .secret, "For the login, with `user`."),
            OptionSpec("from", .text, "The sender: ADDRESS, or NAME <ADDRESS>.", required: true),
            OptionSpec("to", .oneOrMany(.text), "Who gets it: ADDRESS, or NAME <ADDRESS>.", required: true),
            OptionSpec("cc", .oneOrMany(.text), "Who gets a copy."),
            OptionSpec(
                "hello", .text, "The name of this machine that EHLO tells the server.", default: "its host name"),
            .links, .tls,
            OptionSpec("timeout", .duration, "How long one attempt may take.", default: "60s"),
        ],
        make: { options throws(OptionProblem) in
            let settings = try MailSettings(options)
            return { name, services in MailSink(name: name, settings: settings, services: services) }
        })
}

struct MailSink: Sink {
    let name: String
    let settings: MailSettings
    let services: SinkServices

    func deliver(_ message: Message) async -> Outcome {
        guard let carrier = services.mail else { return .retry(reason: "nothing here carries mail", after: nil) }
        let refresh = SecretRefresh(of: settings.secrets, services.clock)
        do throws(FetchError) {
            let reply = try await carrier.send(await mail(for: message))
            let outcome = MailOutcome.of(reply, to: settings.recipients, secrets: settings.secrets)
            return await refresh.outcome(outcome)
        } catch {
            return await refresh.outcome(MailOutcome.of(error))
        }
    }

    func mail(for message: Message) async -> Mail {
        var content = MailMessage(
            message, from: settings.from, to: settings.to, cc: settings.cc, publicURL: services.publicURL,
            now: services.clock.now().wall)
        if settings.hasLinks { content.content.actions = await services.actions(of: message) }
        return Mail(
            server: settings.server, upgrade: settings.upgrade, tls: settings.tls, login: settings.login,
            hello: settings.hello, sender: settings.from.address, recipients: settings.recipients,
            content: content.bytes, timeout: settings.timeout, group: name)
    }
}
