// SPDX-License-Identifier: Apache-2.0
import Testing
import VedetteDocument

struct HTMLTextTests {
    @Test(
        "HTML becomes one line of text",
        arguments: [
            ("<p>One</p><p>two<br>three</p>", "One two three"), ("a <b>bo</b>ld\n\t x ", "a bold x"),
            ("1 < 2 &amp;&lt;b&gt; &#39;&#x27;&#146;", "1 < 2 &<b> ''’"), ("a&nbsp;&nbsp;b&hellip;", "a b…"),
            ("<script>if (a < b) {}</script>x<STYLE>p{}</Style >y", "x y"), ("x<!-- <p> -->y", "xy"),
            ("<a href=\"x>y\">link</a>", "link"), ("AT&T &unknown; &", "AT&T &unknown; &"), ("", ""), ("<", "<"),
            ("a<", "a<"), ("<p", ""), ("&#0;&#xD800;&#99999999;", "\u{FFFD}\u{FFFD}\u{FFFD}"),
            ("don't </p>be", "don't be"),
            ("<!doctype html><?x?>é", "é"), ("1 <2 <3 you", "1 <2 <3 you"), ("a\u{A0} b", "a b"), ("à\u{A0}", "à"),
            ("<![CDATA[a]]> b", "a]]> b"), ("a <!b> c", "a c"), ("&pi;&#128;&#x1F525;&thetasym;", "π€🔥ϑ"),
            ("<blockquote>q</blockquote><figure>f", "q f"), ("&verylongname; x", "&verylongname; x"),
            ("two words, a  gap \n and  \u{A0} more ", "two words, a gap and more"), ("a b <i>c</i> d", "a b c d"),
            ("a b &amp; c\u{7F}d ", "a b & c d"), ("Ünï \u{A0}ö", "Ünï ö"),
        ])
    func plain(html: String, text: String) {
        #expect(HTMLText.plain(html) == text)
    }

    @Test(
        "what a browser does not show is no text",
        arguments: [
            ("a <span hidden>b</span> c", "a c"), ("a<i style='display : none'>b<i>c</i></i>d", "ad"),
            ("a <b style=\"color:red;DISPLAY:NONE !important\">b</b> c", "a c"),
            ("a <div style=visibility:hidden>b</div>c", "a c"), ("<noscript>no</noscript>a", "a"),
            ("a<template><p>b</p></template>c", "a c"), ("<textarea>b</textarea>a", "a"),
            ("<span hidden><span>b</span> c</span>d", "d"), ("<img hidden>a", "a"), ("<br style=display:none>a", "a"),
            ("a <span hidden>b", "a b"), ("<span data-hidden=x>a</span>", "a"), ("<span class='hidden'>a</span>", "a"),
            ("<span style='overflow:hidden'>a</span>", "a"), ("<span hidden/>a", "a"), ("<p title=hidden>a</p>", "a"),
            ("<p style=\"x:url('display:none')\">a</p>", "a"),
            ("<p style='display:none;display:block'>a</p>", "a"), ("<p style='display:block;display:none'>a</p>", ""),
            ("<p style='visibility:hidden!important; visibility:visible'>a</p>", ""),
        ])
    func hidden(html: String, text: String) {
        #expect(HTMLText.plain(html) == text)
    }

    @Test("hidden elements that are never closed cost no more than others")
    func hiddenCost() {
        let html = String(repeating: "<div hidden>", count: 50_000) + "end"
        #expect(HTMLText.plain(html) == "end")
    }

    @Test("the other tags of elements that may be words are looked for in the first ones alone, which bounds the cost")
    func wordCost() {
        let html = String(repeating: "<b>x ", count: 1000)
        let text = HTMLText.plain(html, keepsUnknownTags: true)
        #expect(
            text == String(repeating: "<b>x ", count: 64) + Array(repeating: "x", count: 936).joined(separator: " "))
        let closed = String(repeating: "<b>x</b> ", count: 100) + "y"
        #expect(HTMLText.plain(closed, keepsUnknownTags: true) == String(repeating: "x ", count: 100) + "y")
    }

    @Test("a text that is too long is cut between characters")
    func limit() {
        #expect(HTMLText.plain("ééééé", limit: 8) == "éé…")
        #expect(HTMLText.plain("12345678", limit: 8) == "12345678")
        #expect(HTMLText.plain("x", limit: 0) == "…")
        #expect(HTMLText.collapse("  a \n b<c> ", limit: 8) == "a b<c>")
        #expect(HTMLText.plain("<p>12345678</p>9", limit: 9) == "123456…")
    }

    @Test("every limit cuts every text to a beginning of it, and to no more")
    func limits() {
        let html = "<p>é&amp;<b>x</b> &#x1F525;&#x1F525; y&nbsp;z</p>&hellip;<i>ü</i> 1 < 2 &#128;&thetasym;"
        let whole = HTMLText.plain(html)
        for limit in 3...whole.utf8.count + 2 {
            let cut = HTMLText.plain(html, limit: limit)
            #expect(cut.utf8.count <= limit)
            #expect(cut == whole || whole.hasPrefix(cut.dropLast()))
            #expect((cut == whole) == (whole.utf8.count <= limit))
        }
    }

    @Test("white space, markup and controls are found at every place of a long text")
    func places() {
        let marks = (0...0x7F).map { String(Unicode.Scalar($0)) } + ["\u{A0}", "é", "  ", "\u{3042}", "&amp;", "<b>"]
        for mark in marks {
            for place in 0..<20 {
                let (before, after) = (String("some words of text more".prefix(place)), "and some other words of text")
                let text = before + mark + after
                #expect(HTMLText.collapse(text) == joined(text), "\(text.debugDescription)")
                guard mark != "<" else { continue }
                let shown = mark == "&amp;" ? "&" : mark == "<b>" ? "" : mark
                #expect(HTMLText.plain(text) == joined(before + shown + after), "\(text.debugDescription)")
            }
        }
    }

    private func joined(_ text: String) -> String {
        text.unicodeScalars.split { $0.value <= 0x20 || $0.value == 0x7F || $0.value == 0xA0 }
            .map { String(String.UnicodeScalarView($0)) }.joined(separator: " ")
    }
}
