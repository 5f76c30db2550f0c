// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSources

/// A job of urlwatch (https://urlwatch.readthedocs.io/en/latest/jobs.html) or webchanges
/// (https://webchanges.readthedocs.io/en/stable/jobs.html) as a source.
struct ImportedJob {
    private(set) var entry: ImportedEntry

    private let job: JSON
    private var notes: [String] = []

    init(_ job: JSON, line: Int) {
        self.job = job
        let url = ImportedJob.url(of: job)
        let command = job["command"].flatMap(JobValue.text)
        let title = job["name"].flatMap(JobValue.text) ?? ""
        let word = command?.split(whereSeparator: \.isWhitespace).first.map(String.init)
        let label = [title, url.map(ImportedLogin.shown), word].compactMap { $0 }.first { !$0.isEmpty }
        entry = ImportedEntry(label: label ?? "a job", line: line)
        if let reason = refusal(url: url, command: command) {
            entry.notes = ["left out: \(reason)"]
            return
        }
        guard var source = command.map({ read(command: $0) }) ?? url.map({ read(url: $0) }) else { return }
        source.title = title.isEmpty ? word ?? "" : title
        source.tellsFailures = true
        complete(&source)
        (entry.source, entry.notes) = (source, notes + JobSettings.notes(job))
    }

    /// Whether a document may be a job: it names what to fetch.
    static func isJob(_ value: JSON) -> Bool {
        ["url", "navigate", "command", "kind"].contains { value[$0] != nil }
    }

    private static func url(of job: JSON) -> String? { (job["url"] ?? job["navigate"]).flatMap(JobValue.text) }

    private func isSet(_ name: String) -> Bool { job[name].map(JobValue.isSet) ?? false }

    /// Returns why the job has no equal; nil where it has one.
    private func refusal(url: String?, command: String?) -> String? {
        guard job.members != nil else { return "it is no map with 'url' or 'command'" }
        if let enabled = job["enabled"], !JobValue.isTrue(enabled) {
            return "it is switched off; remove 'enabled' and import it again"
        }
        if let kind = job["kind"].flatMap(JobValue.text), !["url", "browser", "shell", "command"].contains(kind) {
            return "its kind \(quoted(kind)) is of your hooks; write a source of the kind 'html' or 'json'"
        }
        if let command { return command.trimmed().isEmpty ? "its command is empty" : nil }
        guard let url else { return "it has neither 'url' nor 'command'" }
        let address = ImportedLogin.split(url).url
        guard address.hasPrefix("file:///") || WebURL(address) != nil else {
            return "only addresses of http, https and files (file:///…) are read; let a command fetch it"
        }
        let method = job["method"].flatMap(JobValue.text)?.uppercased()
        guard ["GET", "POST", "HEAD", nil].contains(method) else {
            return "requests are made by GET and POST, not by \(quoted(method ?? "")); let a command make it"
        }
        if isSet("data"), method == "GET" || method == "HEAD" {
            return "a GET has no body here; write its data into the address"
        }
        return nil
    }

    // MARK: Places

    private mutating func read(command: String) -> ImportedSource {
        // The programs give the text to a shell, too.
        reading(.text, at: .command(["sh", "-c", command]))
    }

    private mutating func read(url: String) -> ImportedSource {
        let (address, login) = ImportedLogin.split(url)
        let isPage = isSet("data") || !ImportedJob.isTextFile(address)
        var source = reading(isPage ? .page : .text, at: .url(withParameters(address)))
        source.login = login
        if job["navigate"] != nil || isSet("use_browser") {
            notes.append(
                "left out the browser: scripts are not run; where the page lacks its text, watch the API that it asks")
        }
        if !address.hasPrefix("file:") { addRequest(to: &source) }
        return source
    }

    /// Files whose names tell that they are no pages.
    private static func isTextFile(_ address: String) -> Bool {
        let path = address.prefix { !"?#".contains($0) }.lowercased()
        let ends = [
            "txt", "csv", "json", "md", "rst", "log", "xml", "rss", "atom", "ics", "yaml", "yml", "ini", "conf",
        ]
        return ends.contains { path.hasSuffix("." + $0) }
    }

    private func withParameters(_ address: String) -> String {
        guard let parameters = job["params"], JobValue.isSet(parameters) else { return address }
        let text =
            JobValue.text(parameters)
            ?? JobValue.pairs(parameters).map { "\(WebURL.encoded($0.name))=\(WebURL.encoded($0.value))" }
            .joined(separator: "&")
        return address + (address.contains("?") ? "&" : "?") + text
    }

    private mutating func reading(
        _ content: JobReading.Content, at place: ImportedSource.Place
    ) -> ImportedSource {
        let filters = JobFilter.list(job["filter"] ?? job["filters"])
        var isCommand = false
        if case .command = place { isCommand = true }
        let adds = isSet("additions_only")
        let reading = JobReading(filters, of: content, isCommand: isCommand, addsAlone: adds)
        notes += reading.notes
        if adds, case .field = reading.news {
            notes.append("left out 'additions_only': the text is compared as one; a rule tells each change of it")
        }
        return ImportedSource(
            title: "", kind: reading.kind, place: place, options: reading.options, news: reading.news)
    }

    // MARK: Requests

    private mutating func addRequest(to source: inout ImportedSource) {
        let method = job["method"].flatMap(JobValue.text)?.uppercased()
        if method == "HEAD" {
            source.options = [Proposal.Option(name: "method", value: .text("HEAD"))]
            (source.kind, source.news) = ("http", .field("state"))
        }
        for (name, value) in JobValue.pairs(job["headers"]) { addHeader(name, value, to: &source) }
        let cookies = JobValue.pairs(job["cookies"])
        if !cookies.isEmpty { source.headers.append(ImportedHeader(name: "Cookie")) }
        if let agent = job["useragent"].flatMap(JobValue.text) { source.set("user_agent", .text(agent)) }
        if isSet("data") || method == "POST" { addBody(to: &source) }
    }

    private mutating func addHeader(_ name: String, _ value: String, to source: inout ImportedSource) {
        let word = name.lowercased()
        if word == "user-agent" { return source.set("user_agent", .text(value)) }
        if ["host", "connection", "accept-encoding", "content-length", "te", "expect"].contains(word) {
            return notes.append("left out the header \(quoted(name)): the transfer sets it")
        }
        if word == "authorization", source.login == nil, let login = ImportedLogin.of(authorization: value) {
            source.login = login
        } else {
            let isSecret = Header.isUsuallySecret(name)
            source.headers.append(ImportedHeader(name: name, value: isSecret ? nil : value))
        }
    }

    private mutating func addBody(to source: inout ImportedSource) {
        if !["html", "json", "xml"].contains(source.kind) {
            notes.append(
                "left out the kind '\(source.kind)': it makes no POST; the response is read as a page of the kind 'html'"
            )
            (source.kind, source.options, source.news) = ("html", [], .field("text"))
        }
        guard let data = job["data"], JobValue.isSet(data) else { return source.set("method", .text("POST")) }
        if isSet("data_as_json"), source.kind != "json" {
            source.headers.append(ImportedHeader(name: "Content-Type", value: "application/json"))
            return source.set("body", .text(data.text))
        }
        if source.kind == "json", !isSet("data_as_json"), data.members != nil {
            // The kind sends a map as JSON.
            return source.set("body", .text(ImportedJob.form(data)))
        }
        source.set("body", data.members == nil ? .text(JobValue.text(data) ?? data.text) : .body(data.text))
    }

    private static func form(_ data: JSON) -> String {
        JobValue.pairs(data).map { "\(WebURL.encoded($0.name))=\(WebURL.encoded($0.value))" }.joined(separator: "&")
    }

    // MARK: Other settings

    private mutating func complete(_ source: inout ImportedSource) {
        if let encoding = job["encoding"].flatMap(JobValue.text) {
            if ["text", "json"].contains(source.kind), !source.options.contains(where: { $0.name == "jq" }) {
                source.set("encoding", .text(encoding))
            } else {
                notes.append("left out 'encoding': it is read from the response or the page")
            }
        }
        if let tries = job["max_tries"].flatMap(JobValue.text).flatMap(Int.init), tries > 0 {
            source.set("fails", .text(String(min(tries, 1000))))
        }
        if isSet("treat_new_as_changed") { source.set("first", .text("announce")) }
    }
}
