// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import VedetteCore

@testable import VedetteDesktop

@Suite("The content of a notification")
struct DesktopNotificationTests {
    @Test("an item has one notification, whatever happens to it; a source has its own")
    func keys() {
        let first = DesktopNotification(.of(.changed(key: "59"), id: "msg_1"))
        let second = DesktopNotification(.of(.about(.disappeared, item: Item(key: "59")), id: "msg_2"))
        #expect(first.key == second.key)
        #expect(first.key != DesktopNotification(.of(.changed(key: "60"))).key)
        #expect(DesktopNotification(.of(.about(.failing))).key == .source("lab-systems"))
    }

    @Test(
        "the new state is in the first 48 characters of the title, and the whole title in the body when the name is long"
    )
    func oneLine() {
        let name = "the virtual system of the team for payments, in Vienna"
        let event = Event.changed(title: name)
        let shown = DesktopNotification(.of(event, title: MessageTitle.of(event), text: "lab"))
        #expect(shown.title == "the virtual system of the team f…: Ready for use")
        #expect(shown.title.count == DesktopNotification.oneLine)
        #expect(shown.body == "\(name): Starting → Ready for use\nlab")
        for title in ["\(name) is ready, says a rule of its own", "prod-1: Starting → Ready for use"] {
            #expect(DesktopNotification(.of(event, title: title, text: "lab")).title == title)
        }
    }

    @Test("priority becomes urgency, kind becomes category")
    func urgency() {
        #expect(Priority.allCases.map { DesktopNotification(.of(priority: $0)).urgency } == [.low, .normal, .critical])
        #expect(DesktopNotification(.of()).category == "x-vedette.changed")
        #expect(DesktopNotification(.of(.about(.failing))).category == "network.error")
    }

    @Test(
        "only what a browser opens gets a button",
        arguments: [
            ("https://x.example/a?b=c#d", true), ("HTTP://x", true), ("file:///etc/passwd", false), ("--help", false),
            ("javascript:alert(1)", false), ("smb://x/y", false), ("https:x", false), ("http:///x", false),
            ("https://a:b@x/", false), ("", false), ("https://" + String(repeating: "a", count: 9000), false),
            ("https://" + String(repeating: "ä", count: 2000), false),
        ])
    func links(_ url: String, _ isLink: Bool) {
        #expect(DesktopNotification(.of(.changed(url: url))).link == (isLink ? url : nil))
    }

    @Test(
        "what a shell, systemd or a terminal could read in a link is percent-encoded, and escapes are kept",
        arguments: [
            ("https://evil/?${GITHUB_TOKEN}", "https://evil/?%24%7BGITHUB_TOKEN%7D"),
            ("https://evil/$HOME", "https://evil/%24HOME"), ("https://x/a b\tc\n", "https://x/a%20b%09c%0A"),
            ("https://x/ä?q=\u{202e}", "https://x/%C3%A4?q=%E2%80%AE"), ("https://x/\u{7f}\0", "https://x/%7F%00"),
            ("https://x/%41%7b", "https://x/%41%7b"), ("https://x/100%", "https://x/100%25"),
            ("https://x/%zz%2", "https://x/%25zz%252"), ("https://x/<\"'`\\^|>", "https://x/%3C%22%27%60%5C%5E%7C%3E"),
            ("https://[::1]:8443/a;b,c!*()~", "https://[::1]:8443/a;b,c!*()~"),
        ])
    func encoded(_ url: String, _ link: String) {
        #expect(DesktopNotification(.of(.changed(url: url))).link == link)
    }

    @Test("the main process of a user's unit starts the browser through the user's manager, any other directly")
    func browser() {
        let unit = ["SYSTEMD_EXEC_PID": "42", "WAYLAND_DISPLAY": "wayland-0", "HOME": "/h"]
        let cgroup = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/vedette.service\n"
        func words(_ process: pid_t, _ cgroup: String) -> [String] {
            Browser.words(for: "https://x.example/", process: process, cgroup: cgroup) { unit[$0] }
        }
        let asked = words(42, cgroup)
        #expect(asked.first == "systemd-run" && asked.suffix(2) == ["xdg-open", "https://x.example/"])
        #expect(asked.contains("--user") && asked.contains("--property=ExitType=cgroup"))
        #expect(asked.filter { $0.hasPrefix("--setenv") } == ["--setenv=WAYLAND_DISPLAY=wayland-0"])
        #expect(words(43, cgroup) == ["xdg-open", "https://x.example/"])
        #expect(words(42, "0::/system.slice/vedette.service\n") == ["xdg-open", "https://x.example/"])
    }

    @Test("a daemon without body-markup gets no markup, and text that only looks like it is kept")
    func strip() {
        let tags = [
            ("<<b>b>x</B >", "x"), (#"<a href="file:///etc/passwd">x</a>"#, "x"), ("<IMG/src=x>", ""), ("<b", "<b"),
            ("1 < 2 > 0", "1 < 2 > 0"), ("<body>", "<body>"), ("<>", "<>"), ("<br/>", "<br/>"), ("<\nimg>", "<\nimg>"),
            ("<img src='>'>", "'>"), ("<i>a<u>b</u></i>", "ab"), ("a>b", "a>b"), ("<a<b>c>", "<ac>"),
        ]
        for (text, plain) in tags { #expect(NotificationMarkup.body(text, isMarkup: false) == plain, "\(text)") }
    }

    @Test("Snooze silences the item or the source for an hour, Mute the rule for good, here or everywhere")
    func silences() {
        let now = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!
        let hour = Timestamp(rfc3339: "2026-11-21T11:00:00Z")!
        let item = DesktopNotification(.of(.changed(key: "59")))
        #expect(item.buttons == [.snooze, .mute, .muteEverywhere])
        #expect(
            item.silence(by: .snooze, at: now)
                == Silence(rule: "ready", source: "lab-systems", item: "59", until: hour, created: now))
        #expect(item.silence(by: .mute, at: now) == Silence(rule: "ready", sink: "test", created: now))
        #expect(item.silence(by: .muteEverywhere, at: now) == Silence(rule: "ready", created: now))
        #expect(item.silence(by: .open, at: now) == nil)
        var followed = item
        followed.subject?.match = "m"
        #expect(followed.buttons == [.acknowledge, .snooze, .mute, .muteEverywhere])
        #expect(followed.silence(by: .acknowledge, at: now) == nil)
        let source = DesktopNotification(.of(.about(.failing)))
        #expect(
            source.silence(by: .snooze, at: now)
                == Silence(rule: "ready", source: "lab-systems", until: hour, created: now))
        let test = DesktopNotification(.of(.about(.test, item: Item(key: "test"))))
        #expect(test.buttons.isEmpty && test.silence(by: .mute, at: now) == nil)
    }

    @Test("an icon is a name or an absolute path")
    func icons() throws {
        for icon in ["mail-unread", "/usr/share/pixmaps/x y.png"] {
            _ = try DesktopKind.entry.make(Options(["icon": .text(icon)]))
        }
        for icon in ["", "a/b.png", "file:///x.png", "~/x.png", "/a\nb"] {
            #expect(throws: OptionProblem.self, "\(icon)") {
                try DesktopKind.entry.make(Options(["icon": .text(icon)]))
            }
        }
    }

    @Test("markup is escaped for a daemon with body-markup, and removed for any other")
    func markup() {
        let text = #"<b>&amp;</b> <img src="x"> a < b"#
        #expect(
            NotificationMarkup.body(text, isMarkup: true)
                == #"&lt;b&gt;&amp;amp;&lt;/b&gt; &lt;img src="x"&gt; a &lt; b"#)
        #expect(NotificationMarkup.body(text, isMarkup: false) == "&amp;  a < b")
    }

    @Test("control and bidirectional characters are removed, and line breaks are kept in bodies alone")
    func clean() {
        #expect(NotificationMarkup.title("a\u{1B}[1m\n\u{202E}b\u{0}\tc") == "a[1m b c")
        #expect(NotificationMarkup.body("a\r\n\u{2066}b\u{85}", isMarkup: false) == "a\nb")
        #expect(NotificationMarkup.title("\u{0}") == "Vedette")
    }

    @Test("a long text is cut between characters, and an entity is never cut")
    func cut() {
        #expect(NotificationMarkup.title(String(repeating: "x", count: 200)).count == 200)
        #expect(
            NotificationMarkup.title(String(repeating: "x", count: 201)) == String(repeating: "x", count: 200) + "…")
        let family = "👩‍👩‍👧"
        #expect(
            NotificationMarkup.title(String(repeating: family, count: 100)) == String(repeating: family, count: 40)
                + "…")
        let odd = NotificationMarkup.title("x" + String(repeating: family, count: 100))
        #expect(odd == "x" + String(repeating: family, count: 39) + "…")
        let heap = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(NotificationMarkup.title(heap).unicodeScalars.count == 201)
        let body = NotificationMarkup.body(String(repeating: "&", count: 2000), isMarkup: true)
        #expect(body == String(repeating: "&amp;", count: 1000) + "…")
    }

    @Test("invalid UTF-8 is replaced before it becomes a String")
    func utf8() {
        #expect(NotificationMarkup.title(String(decoding: [0x61, 0xFF, 0x62], as: UTF8.self)) == "a\u{FFFD}b")
    }
}

@Suite("Missed messages")
struct MissedTests {
    let rule = Timestamp(rfc3339: "2026-11-21T08:00:00.123Z")!
    private func message(_ id: String) -> Message { .of(.changed(time: "2026-11-21T01:00:00Z"), id: id) }

    @Test("the age of a message comes from its id, else from its event")
    func age() {
        let message = message("msg_" + Identifier(time: rule, random: (7, 8)).description)
        #expect(message.created == rule)
        #expect(!message.isMissed(at: rule.advanced(by: .seconds(3600))))
        #expect(message.isMissed(at: rule.advanced(by: .seconds(3601))))
        for id in ["msg_0199", "", "msg_zzzzzzzz-zzzz-7000", "msg_+1234567-1234-7000", "msg_01234567"] {
            #expect(self.message(id).created == Timestamp(rfc3339: "2026-11-21T01:00:00Z"), "\(id)")
        }
    }

    @Test("the summary names failures first, and counts them")
    func failuresFirst() {
        var missed = MissedSummary()
        missed.add("billing is failing", isFailure: true)
        for i in 1...6 { missed.add("post \(i)", isFailure: false) }
        missed.add("lab is failing", isFailure: true)
        #expect(missed.notification.title == "8 older messages, 2 failures")
        #expect(
            missed.notification.body
                == "billing is failing\nlab is failing\npost 4\npost 5\npost 6\nand 3 before")
        for kind in [Event.Kind.failing, .stale, .paused] { #expect(Message.of(.about(kind)).isFailure) }
        #expect(!Message.of().isFailure && Message.of(priority: .high).isFailure)
        #expect(!Message.of(.about(.recovered)).isFailure)
    }

    @Test("the summary counts all and names the last five")
    func summary() {
        var missed = MissedSummary()
        missed.add("1", isFailure: false)
        #expect(missed.notification.title == "1 older message" && missed.notification.body == "1")
        for i in 2...7 { missed.add("\(i)", isFailure: false) }
        #expect(missed.notification.key == .missed && missed.notification.buttons.isEmpty)
        #expect(
            missed.notification.title == "7 older messages" && missed.notification.body == "3\n4\n5\n6\n7\nand 2 before"
        )
    }
}
