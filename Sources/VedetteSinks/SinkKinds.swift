// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The table of sink kinds. A new kind is one file and one row here; `desktop` has a module of its own.
public enum SinkKinds {
    public static let all: [SinkKindEntry] = [
        StdoutKind.entry, FileKind.entry, CommandKind.entry, WebhookKind.entry, SlackKind.entry, MattermostKind.entry,
        DiscordKind.entry,
        TeamsKind.entry,
        GoogleChatKind.entry, MatrixKind.entry, NtfyKind.entry, GotifyKind.entry, TelegramKind.entry, MailKind.entry,
    ]
}
